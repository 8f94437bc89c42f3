package capture

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithout: a capture without a file is what is read of a folder without it.
func TestWithout(t *testing.T) {
	images := `{"Images": [{"ImageId": "ami-1", "OwnerId": "111122223333"}]}`
	described := `{"cluster": {"name": "prod", "arn": "arn:aws:eks:us-west-2:111122223333:cluster/prod"}}`
	all := opened(t, map[string]string{"time.txt": "2026-11-20T15:00:00Z", "ec2-describe-images.json": images, "eks-describe-cluster.prod.json": described})
	for name, test := range map[string]struct {
		files   map[string]string
		without string
		refused bool
	}{
		"a list missing":    {map[string]string{"eks-describe-cluster.prod.json": described}, "ec2-describe-images", false},
		"a list refused":    {map[string]string{"eks-describe-cluster.prod.json": described, "errors.json": `{"ec2-describe-images": {"code": "AccessDenied", "message": "not authorized"}}`}, "ec2-describe-images", true},
		"a cluster missing": {map[string]string{"ec2-describe-images.json": images}, "eks-describe-cluster.prod", false},
	} {
		test.files["time.txt"] = "2026-11-20T15:00:00Z"
		want, got := opened(t, test.files), all.Without([]string{test.without}, test.refused)
		want.Dir, got.Dir, want.Warnings, got.Warnings = "", "", nil, nil
		if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s (-folder +memory):\n%s", name, diff)
		}
	}
}
