package main

// builtPackages is where `make build` puts what Lambda runs: <name>/bootstrap.
const builtPackages = "build/arm64"

// prebuilt names another folder: the functions of a release, unpacked (make deploy
// PREBUILT=…).
const prebuilt = "ROLLCALL_PREBUILT"

// packages is where the functions are that are deployed.
func packages(getenv func(string) string) string {
	if dir := getenv(prebuilt); dir != "" {
		return dir
	}
	return builtPackages
}
