package world

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/local/simaws/worldfile"
)

// An account has an alias or none, of IAM's form; there is never a second page.
func TestAccountAliases(t *testing.T) {
	for name, x := range map[string]struct {
		aliases []string
		says    string
	}{
		"none":        {nil, ""},
		"one":         {[]string{"acme-2"}, ""},
		"two":         {[]string{"acme", "shop"}, "one at most"},
		"capitals":    {[]string{"Acme"}, "no alias that IAM takes"},
		"two hyphens": {[]string{"ac--me"}, "no alias that IAM takes"},
		"short":       {[]string{"ac"}, "no alias that IAM takes"},
	} {
		w, err := New(&worldfile.File{Account: "111122223333", Region: "us-west-2", Time: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), IAM: worldfile.IAMFile{AccountAliases: x.aliases}}, Options{Seed: 1})
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%s: %v, want %q", name, err, x.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := w.API().ListAccountAliases(&iam.ListAccountAliasesInput{})
		if err != nil || out.IsTruncated || out.Marker != nil || !slices.Equal(out.AccountAliases, x.aliases) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if _, err := w.API().ListAccountAliases(&iam.ListAccountAliasesInput{Marker: aws.String("x")}); err == nil || !strings.Contains(err.Error(), "Marker") {
			t.Errorf("%s: a marker that was never given: %v", name, err)
		}
		if _, err := w.API().ListAccountAliases(&iam.ListAccountAliasesInput{MaxItems: aws.Int32(0)}); err == nil || !strings.Contains(err.Error(), "maxItems") {
			t.Errorf("%s: pages of none: %v", name, err)
		}
	}
}
