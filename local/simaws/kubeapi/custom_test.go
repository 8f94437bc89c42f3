package kubeapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A kind whose definition is not installed is not there: neither to list nor in
// what the API says that it has.
func TestCustomKinds(t *testing.T) {
	s, _, _ := stage(t)
	objects := s.cfg.Objects
	for _, installed := range []bool{true, false} {
		s.cfg.Objects = func(plural string) ([]json.RawMessage, string, error) {
			switch {
			case plural != "eniconfigs":
				return objects(plural)
			case !installed:
				return nil, "", NotInstalled()
			}
			return []json.RawMessage{json.RawMessage(`{"metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-1"}}`)}, "42", nil
		}
		list := get(s, "list", "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs", "application/json")
		want := http.StatusNotFound
		if installed {
			want = http.StatusOK
		}
		if list.Code != want || installed && !strings.Contains(list.Body.String(), `"kind":"ENIConfigList","apiVersion":"crd.k8s.amazonaws.com/v1alpha1"`) {
			t.Errorf("installed %t: the list is %d %s", installed, list.Code, list.Body)
		}
		if apis := get(s, "list", "/apis", "application/json").Body.String(); strings.Contains(apis, "crd.k8s.amazonaws.com/v1alpha1") != installed {
			t.Errorf("installed %t: the groups are %s", installed, apis)
		}
		if code := get(s, "list", "/apis/crd.k8s.amazonaws.com/v1alpha1", "application/json").Code; code != want {
			t.Errorf("installed %t: the group's resources are %d", installed, code)
		}
	}
}
