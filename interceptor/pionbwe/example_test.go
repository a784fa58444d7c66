// SPDX-License-Identifier: MIT

package pionbwe_test

import (
	"fmt"

	piongcc "github.com/pion/interceptor/pkg/gcc"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/interceptor/pionbwe"
)

// An application that trusts Pion's GCC keeps it, and puts the modem's word in
// front of it.
func Example() {
	est, err := interceptor.NewEstimator(
		interceptor.WithBitrateBounds(100_000, 800_000, 10_000_000),
		interceptor.WithOuter(func() (gbr.Outer, error) {
			bwe, err := piongcc.NewSendSideBWE(
				piongcc.SendSideBWEInitialBitrate(800_000), piongcc.SendSideBWEMaxBitrate(10_000_000),
				piongcc.SendSideBWEPacer(piongcc.NewNoOpPacer())) // the Estimator paces
			if err != nil {
				return nil, err
			}

			return pionbwe.New(bwe)
		}))
	if err != nil {
		panic(err)
	}
	fmt.Println(est.GetTargetBitrate(), "bit/s")
	if err := est.Close(); err != nil { // and Pion's with it
		panic(err)
	}
	// Output: 800000 bit/s
}
