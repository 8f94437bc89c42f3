package checks

// addressChecks are the checks of ip: addresses.
func addressChecks() []Check {
	return []Check{
		subnetExhausted(),
		scaleOutWillNotFit(),
		fragmented(),
		runway(),
		leakedInterfaces(),
		leakCause(),
	}
}
