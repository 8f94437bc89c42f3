package capture

import (
	"encoding/json"
	"fmt"
	"net/http"

	"rollcall/local/simaws/kubeapi"
)

// files are kubectl's by the plural of what they hold.
func kubectl(plural string) (operation string, ok bool) {
	operation, ok = map[string]string{
		"nodes":                      "kubectl-get-nodes",
		"pods":                       "kubectl-get-pods",
		"persistentvolumes":          "kubectl-get-pv",
		"persistentvolumeclaims":     "kubectl-get-pvc",
		"daemonsets":                 "kubectl-get-daemonset-aws-node",
		"serviceaccounts":            "kubectl-get-serviceaccount-aws-node",
		"configmaps":                 "kubectl-get-configmap-aws-auth",
		"certificatesigningrequests": "kubectl-get-csr",
		"events":                     "kubectl-get-events",
		"eniconfigs":                 "kubectl-get-eniconfigs",
		"nodepools":                  "kubectl-get-nodepools",
		"nodeclaims":                 "kubectl-get-nodeclaims",
		"ec2nodeclasses":             "kubectl-get-ec2nodeclasses",
		"nodeclasses":                "kubectl-get-nodeclasses",
	}[plural]
	return operation, ok
}

// Objects lists a cluster's Kubernetes objects of a kind, and the version of
// the list. The error is the *kubeapi.Status that a client gets.
func (c *Capture) Objects(cluster, plural string) ([]json.RawMessage, string, error) {
	operation, ok := kubectl(plural)
	if !ok {
		return nil, "", kubernetes(c.absent(fileName("kubectl-get-"+plural, cluster)))
	}
	name := c.find(operation, []string{cluster})
	tree, ok := c.files[name].(map[string]any)
	if !ok {
		return nil, "", kubernetes(c.absent(name))
	}
	items, version, err := objects(tree)
	if err != nil {
		return nil, "", err
	}
	return items, version, nil
}

// objects are the items of what kubectl printed: a list, or one object.
func objects(tree map[string]any) (list []json.RawMessage, version string, err error) {
	meta, _ := tree["metadata"].(map[string]any)
	version, _ = meta["resourceVersion"].(string)
	if version == "" {
		version = "1"
	}
	if token, _ := meta["continue"].(string); token != "" {
		return nil, "", &kubeapi.Status{Code: http.StatusNotImplemented, Reason: NotCaptured, Message: "the capture holds only the first page of the list"}
	}
	if tree["kind"] == "Status" {
		s := &kubeapi.Status{Code: http.StatusInternalServerError}
		s.Reason, _ = tree["reason"].(string)
		s.Message, _ = tree["message"].(string)
		if n, ok := tree["code"].(json.Number); ok {
			if code, err := n.Int64(); err == nil {
				s.Code = int(code)
			}
		}
		return nil, "", s
	}
	all := []any{tree}
	if items, ok := tree["items"]; ok {
		all, _ = items.([]any)
	}
	for _, item := range all {
		object, ok := item.(map[string]any)
		if !ok {
			continue
		}
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, "", &kubeapi.Status{Code: http.StatusInternalServerError, Reason: "InternalError", Message: fmt.Sprintf("write an object: %v", err)}
		}
		list = append(list, raw)
	}
	return list, version, nil
}
