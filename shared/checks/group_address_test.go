package checks

// addressCases are the cases of addressChecks.
func addressCases() map[ID][]testCase {
	return map[ID][]testCase{
		"ip/subnet-exhausted": subnetExhaustedCases(),
	}
}
