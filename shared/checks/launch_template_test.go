package checks

func launchTemplateCases() []testCase {
	return launchOutcomes(
		"You must use a valid fully-formed launch template. The key pair 'ops' does not exist",
		"fail lt-0a [eks-workers] [] workers cannot launch: the launch template does not fit",
	)
}
