package gather

import "testing"

func TestClusterOf(t *testing.T) {
	for _, test := range []struct {
		tags map[string]string
		want string
	}{
		{map[string]string{"eks:cluster-name": "prod", "kubernetes.io/cluster/other": "owned"}, "prod"},
		{map[string]string{"aws:eks:cluster-name": "prod"}, "prod"},
		{map[string]string{"kubernetes.io/cluster/b": "owned", "kubernetes.io/cluster/a": "shared"}, "a"},
		{map[string]string{"k8s.io/cluster-autoscaler/prod": "owned", "k8s.io/cluster-autoscaler/enabled": "true"}, "prod"},
		{map[string]string{"k8s.io/cluster-autoscaler/enabled": "true"}, ""},
		{map[string]string{"k8s.io/cluster-autoscaler/node-template/label/x": "y"}, ""},
		{map[string]string{"kubernetes.io/cluster/": "owned"}, ""},
		{nil, ""},
	} {
		if got, ok := ClusterOf(test.tags); got != test.want || ok != (test.want != "") {
			t.Errorf("ClusterOf(%v) = %q, %v; want %q", test.tags, got, ok, test.want)
		}
	}
}
