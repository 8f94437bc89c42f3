package version

import (
	"runtime/debug"
	"testing"

	"rollcall/tools/expect"
)

func TestOf(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "vcs.revision", Value: "abc123"}}
	for name, test := range map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"a release":       {debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: revision}, "1.2.3"},
		"a commit":        {debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261123080000-abcdefabcdef+dirty"}}, "0.0.0-20261123080000-abcdefabcdef+dirty"},
		"an old Go":       {debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: revision}, "abc123"},
		"without history": {debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Unknown},
		"nothing":         {debug.BuildInfo{}, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, "got", FromBuildInfo(&test.info), test.want)
		})
	}
}
