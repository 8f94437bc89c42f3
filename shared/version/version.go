// Package version tells which release a program was built of.
package version

import (
	"runtime/debug"
	"strings"
)

// Unknown is the version of a program that was built without its history, as make builds
// in a clone: an issue that quotes it says at least that it was no release.
const Unknown = "development build"

// Current is the version of the running program. Go writes it when it builds with
// -buildvcs=true: the tag of the commit, else the commit's time and hash (go help
// buildvcs, and the release notes of Go 1.24).
func Current() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Unknown
	}
	return FromBuildInfo(info)
}

// FromBuildInfo is the version that is written in a program.
func FromBuildInfo(info *debug.BuildInfo) string {
	v := strings.TrimPrefix(info.Main.Version, "v")
	if v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return Unknown
}
