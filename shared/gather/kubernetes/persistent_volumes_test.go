package kubernetes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/kube"
)

func TestVolumeID(t *testing.T) {
	for handle, want := range map[string]string{
		"vol-0ab12cd34ef567890":                  "vol-0ab12cd34ef567890",
		"aws://us-east-1a/vol-0ab12cd34ef567890": "vol-0ab12cd34ef567890",
		"aws:///vol-0ab12cd34ef567890":           "vol-0ab12cd34ef567890",
		"fs-0a":                                  "",
		"":                                       "",
		"vol-":                                   "",
		"vol-0a,vol-0b":                          "",
		"vol-{0a}":                               "",
	} {
		if got := volumeID(handle); got != want {
			t.Errorf("volumeID(%q) = %q, want %q", handle, got, want)
		}
	}
}

func TestZonesOfAnAffinity(t *testing.T) {
	term := func(key, operator string, values ...string) kube.NodeSelectorTerm {
		return kube.NodeSelectorTerm{Labels: []kube.Requirement{{Key: key, Operator: operator, Values: values}}}
	}
	for name, test := range map[string]struct {
		terms []kube.NodeSelectorTerm
		want  []string
	}{
		"none":               {nil, nil},
		"csi":                {[]kube.NodeSelectorTerm{term("topology.ebs.csi.aws.com/zone", "In", "a")}, []string{"a"}},
		"one of two":         {[]kube.NodeSelectorTerm{term("topology.kubernetes.io/zone", "In", "b"), term("failure-domain.beta.kubernetes.io/zone", "In", "a")}, []string{"a", "b"}},
		"one names no zone":  {[]kube.NodeSelectorTerm{term("topology.kubernetes.io/zone", "In", "b"), term("kubernetes.io/hostname", "In", "n")}, nil},
		"an operator of old": {[]kube.NodeSelectorTerm{term("topology.kubernetes.io/zone", "NotIn", "b")}, nil},
		"local disk":         {[]kube.NodeSelectorTerm{term("kubernetes.io/hostname", "In", "ip-10-0-0-1")}, nil},
	} {
		if diff := cmp.Diff(test.want, zonesOf(test.terms)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
