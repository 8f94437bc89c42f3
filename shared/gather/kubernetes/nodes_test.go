package kubernetes

import "testing"

func TestInstanceOf(t *testing.T) {
	for id, want := range map[string]string{
		"aws:///us-west-2a/i-0ef3":     "i-0ef3",
		"aws:///us-west-2a/fargate-ip": "",
		"eks-hybrid:///us-west-2/mi-1": "",
		"i-0ef3":                       "",
		"":                             "",
	} {
		if got := instanceOf(id); got != want {
			t.Errorf("instanceOf(%q) = %q, want %q", id, got, want)
		}
	}
}
