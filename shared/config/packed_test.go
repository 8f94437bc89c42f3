package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"
)

func TestPackedSettingsAreRead(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("platform-prod-eu-west-1-team-%03d", i))
	}
	plain := strings.Join(names, ",")
	text := Pack(plain)
	if len(text) > len(plain)/4 {
		t.Errorf("%d characters were packed into %d", len(plain), len(text))
	}
	c, err := Load(func(name string) string { return map[string]string{string(Clusters): text}[name] }, []spec.Variable{Clusters})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names, c.Clusters); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotPackedRightIsRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"gzip:%%%", "unpack: illegal base64"},
		{"gzip:aGVsbG8=", "unpack: unexpected EOF"},
		{Pack("prod")[:20], "unpack:"},
		{Pack(strings.Repeat("a", mostUnpacked+1)), "unpack: more than 1048576 bytes"},
		{Pack("not/a/name"), `"not/a/name" is not a cluster name`},
	} {
		_, err := Load(func(name string) string { return map[string]string{string(Clusters): test.text}[name] }, []spec.Variable{Clusters})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), string(Clusters)) {
			t.Errorf("%.40q: got %v, want %q", test.text, err, test.want)
		}
	}
}
