// Package clitest holds tests that use the local stage as people use AWS: the
// real AWS CLI and kubectl as subprocesses. They are opt-in, by build tags,
// because they need those tools:
//
//	.ci/run cli                                       AWS CLI and kubectl
//	go test -tags cli ./tools/clitest -update           writes docs/workshop.md anew
//
// A tool that is missing is a failure, not a skip. Nothing is written outside
// temporary folders, but the page with -update.
package clitest
