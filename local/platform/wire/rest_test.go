package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindRoute(t *testing.T) {
	routes := testNames(t)["eks"].routes
	tests := []struct {
		method, path, want string
		labels             map[string]string
	}{
		{"GET", "/clusters", "ListClusters", map[string]string{}},
		{"GET", "/clusters/prod", "DescribeCluster", map[string]string{"name": "prod"}},
		{"GET", "/clusters/prod/", "DescribeCluster", map[string]string{"name": "prod"}},
		{"GET", "/clusters/prod/node-groups/ng", "DescribeNodegroup", map[string]string{"clusterName": "prod", "nodegroupName": "ng"}},
		{"POST", "/clusters/prod/node-groups/ng/update-config", "UpdateNodegroupConfig", map[string]string{"clusterName": "prod", "nodegroupName": "ng"}},
		{"GET", "/clusters/prod/access-entries/arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx", "DescribeAccessEntry",
			map[string]string{"clusterName": "prod", "principalArn": "arn:aws:iam::1:role/x"}},
		{"GET", "/addons/supported-versions", "DescribeAddonVersions", map[string]string{}},
		{"PATCH", "/clusters/prod", "", nil},
		{"GET", "/clusters//node-groups", "", nil},
		{"GET", "/", "", nil},
		{"GET", "/clusters/%zz", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			op, labels, ok := findRoute(routes, tt.method, tt.path)
			if op != tt.want || ok != (tt.want != "") {
				t.Errorf("operation = %q, %v, want %q", op, ok, tt.want)
			}
			if diff := cmp.Diff(labels, tt.labels); diff != "" {
				t.Errorf("labels (-got +want):\n%s", diff)
			}
		})
	}
}
