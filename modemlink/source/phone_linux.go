// SPDX-License-Identifier: MIT

package source

// openPhone opens this phone's own modem. Android is Linux.
func openPhone(cfg Config) (opener, error) {
	return phonePort(openDevice(kernelDevice, cfg.Logger), openRouter(routerNames(), cfg.Logger)), nil
}
