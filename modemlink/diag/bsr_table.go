// SPDX-License-Identifier: MIT

package diag

// The 3GPP buffer size tables: entry i is the upper edge in bytes of index i,
// whose lower edge is one more than the entry before. One further index has no
// upper edge. The LTE tables and the 5-bit table follow
// ceil(10 * (Bmax/10)^((i-1)/(N-1))); the 8-bit table does not.

// lteSizes is TS 36.321 table 6.1.3.1-1.
//
//nolint:gochecknoglobals // constant table
var lteSizes = [...]int32{
	0, 10, 12, 14, 17, 19, 22, 26, 31, 36, 42, 49, 57, 67, 78, 91, 107, 125, 146, 171, 200,
	234, 274, 321, 376, 440, 515, 603, 706, 826, 967, 1132, 1326, 1552, 1817, 2127, 2490, 2915,
	3413, 3995, 4677, 5476, 6411, 7505, 8787, 10287, 12043, 14099, 16507, 19325, 22624, 26487,
	31009, 36304, 42502, 49759, 58255, 68201, 79846, 93479, 109439, 128125, 150000,
}

// lteExtSizes is TS 36.321 table 6.1.3.1-2, used with extendedBSR-Sizes.
//
//nolint:gochecknoglobals // constant table
var lteExtSizes = [...]int32{
	0, 10, 13, 16, 19, 23, 29, 35, 43, 53, 65, 80, 98, 120, 147, 181, 223, 274, 337, 414, 509,
	625, 769, 945, 1162, 1429, 1757, 2161, 2657, 3267, 4017, 4940, 6074, 7469, 9185, 11294,
	13888, 17077, 20999, 25822, 31752, 39045, 48012, 59039, 72598, 89272, 109774, 134986,
	165989, 204111, 250990, 308634, 379519, 466683, 573866, 705666, 867737, 1067031, 1312097,
	1613447, 1984009, 2439678, 3000000,
}

// nrShortSizes is TS 38.321 table 6.1.3.1-1, 5 bits: short and short truncated.
//
//nolint:gochecknoglobals // constant table
var nrShortSizes = [...]int32{
	0, 10, 14, 20, 28, 38, 53, 74, 102, 142, 198, 276, 384, 535, 745, 1038, 1446, 2014, 2806,
	3909, 5446, 7587, 10570, 14726, 20516, 28581, 39818, 55474, 77284, 107669, 150000,
}

// nrLongSizes is TS 38.321 table 6.1.3.1-2, 8 bits: long and long truncated.
// Index 255 is reserved.
//
//nolint:gochecknoglobals // constant table
var nrLongSizes = [...]int32{
	0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 25, 26, 28, 30, 32, 34, 36, 38, 40,
	43, 46, 49, 52, 55, 59, 62, 66, 71, 75, 80, 85, 91, 97, 103, 110, 117, 124, 132, 141, 150,
	160, 170, 181, 193, 205, 218, 233, 248, 264, 281, 299, 318, 339, 361, 384, 409, 436, 464,
	494, 526, 560, 597, 635, 677, 720, 767, 817, 870, 926, 987, 1051, 1119, 1191, 1269, 1351,
	1439, 1532, 1631, 1737, 1850, 1970, 2098, 2234, 2379, 2533, 2698, 2873, 3059, 3258, 3469,
	3694, 3934, 4189, 4461, 4751, 5059, 5387, 5737, 6109, 6506, 6928, 7378, 7857, 8367, 8910,
	9488, 10104, 10760, 11458, 12202, 12994, 13838, 14736, 15692, 16711, 17795, 18951, 20181,
	21491, 22885, 24371, 25953, 27638, 29431, 31342, 33376, 35543, 37850, 40307, 42923, 45709,
	48676, 51836, 55200, 58784, 62599, 66663, 70990, 75598, 80505, 85730, 91295, 97221, 103532,
	110252, 117409, 125030, 133146, 141789, 150992, 160793, 171231, 182345, 194182, 206786,
	220209, 234503, 249725, 265935, 283197, 301579, 321155, 342002, 364202, 387842, 413018,
	439827, 468377, 498780, 531156, 565634, 602350, 641449, 683087, 727427, 774645, 824928,
	878475, 935498, 996222, 1060888, 1129752, 1203085, 1281179, 1364342, 1452903, 1547213,
	1647644, 1754595, 1868488, 1989774, 2118933, 2256475, 2402946, 2558924, 2725027, 2901912,
	3090279, 3290873, 3504487, 3731968, 3974215, 4232186, 4506902, 4799451, 5110989, 5442750,
	5796046, 6172275, 6572925, 6999582, 7453933, 7937777, 8453028, 9001725, 9586039, 10208280,
	10870913, 11576557, 12328006, 13128233, 13980403, 14887889, 15854280, 16883401, 17979324,
	19146385, 20389201, 21712690, 23122088, 24622972, 26221280, 27923336, 29735875, 31666069,
	33721553, 35910462, 38241455, 40723756, 43367187, 46182206, 49179951, 52372284, 55771835,
	59392055, 63247269, 67352729, 71724679, 76380419, 81338368,
}

func lteTable(extended bool) []int32 {
	if extended {
		return lteExtSizes[:]
	}

	return lteSizes[:]
}

// LTEBufferSize returns the bytes that a BSR index (0..63) stands for: the
// buffer holds low to high. extended is the extendedBSR-Sizes configuration.
// high is -1 when the bin has no upper edge. An index beyond the table says
// nothing: 0, -1.
func LTEBufferSize(idx uint8, extended bool) (low, high int) {
	return bufferSize(lteTable(extended), idx)
}

// LTEIndex returns the BSR index for a buffer of that many bytes.
func LTEIndex(bytes int, extended bool) uint8 { return bufferIndex(lteTable(extended), bytes) }

// NRShortBufferSize is LTEBufferSize for a short BSR on NR, index 0..31.
func NRShortBufferSize(idx uint8) (low, high int) { return bufferSize(nrShortSizes[:], idx) }

// NRShortIndex returns the 5-bit index for a buffer of that many bytes.
func NRShortIndex(bytes int) uint8 { return bufferIndex(nrShortSizes[:], bytes) }

// NRLongBufferSize is LTEBufferSize for a long BSR on NR, index 0..254.
func NRLongBufferSize(idx uint8) (low, high int) { return bufferSize(nrLongSizes[:], idx) }

// NRLongIndex returns the 8-bit index for a buffer of that many bytes.
func NRLongIndex(bytes int) uint8 { return bufferIndex(nrLongSizes[:], bytes) }

func bufferSize(table []int32, idx uint8) (low, high int) {
	switch i := int(idx); {
	case i == 0:
		return 0, 0
	case i < len(table):
		return int(table[i-1]) + 1, int(table[i])
	case i == len(table):
		return int(table[i-1]) + 1, -1
	default:
		return 0, -1
	}
}

// bufferIndex is the first entry that holds bytes.
func bufferIndex(table []int32, bytes int) uint8 {
	lo, hi := 0, len(table)
	for lo < hi {
		mid := (lo + hi) / 2
		if int(table[mid]) >= bytes {
			hi = mid
		} else {
			lo = mid + 1
		}
	}

	return uint8(lo)
}
