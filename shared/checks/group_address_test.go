package checks

// addressCases are the cases of addressChecks.
func addressCases() map[ID][]testCase {
	return map[ID][]testCase{
		"ip/subnet-exhausted":       subnetExhaustedCases(),
		"ip/scale-out-will-not-fit": scaleOutWillNotFitCases(),
		"ip/fragmented":             fragmentedCases(),

		"ip/runway":            runwayCases(),
		"ip/leaked-interfaces": leakedInterfacesCases(),
		"ip/leak-cause":        leakCauseCases(),
	}
}
