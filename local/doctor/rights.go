package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"rollcall/infra/clusterrole"
	"rollcall/shared/kube"
)

// Kubernetes is what it takes of a cluster's API.
type Kubernetes interface {
	// Raw is the object at a path; a *kube.StatusError where the API answered otherwise.
	Raw(ctx context.Context, path string, query url.Values) (json.RawMessage, error)
}

// rbac is the group of the API (Kubernetes, "Using RBAC Authorization").
const rbac = "rbac.authorization.k8s.io"

// right is one thing that may be done with one kind of object: in a namespace, or in all
// where that is empty; with one of a name, or with all.
type right struct{ namespace, group, resource, verb, name string }

func (r right) String() string {
	text := r.verb + " " + strings.TrimSuffix(r.resource+"."+r.group, ".")
	if r.name != "" {
		text += "/" + r.name
	}
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	return text
}

// grant is a rule of a role, in the namespace in which it is bound.
type grant struct {
	namespace                       string
	groups, resources, verbs, names []string
}

// allows tells whether a grant gives a right. An empty list of names is all (Kubernetes,
// PolicyRule).
func (g grant) allows(r right) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, want) || slices.Contains(list, "*")
	}
	named := len(g.names) == 0 || r.name != "" && slices.Contains(g.names, r.name)
	return (g.namespace == "" || g.namespace == r.namespace) && has(g.groups, r.group) && has(g.resources, r.resource) && has(g.verbs, r.verb) && named
}

// rightsOf are the rights that functions need in each cluster.
func rightsOf(list []functionOf) []right {
	var all []right
	for _, f := range list {
		for _, k := range f.spec.Kube {
			names := k.Names
			if len(names) == 0 {
				names = []string{""}
			}
			for _, resource := range k.Resources {
				for _, verb := range k.Verbs {
					for _, name := range names {
						all = append(all, right{k.Namespace, k.Group, resource, verb, name})
					}
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b right) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// missing are the rights that no grant gives.
func missing(wants []right, grants []grant) []string {
	var list []string
	for _, r := range wants {
		if !slices.ContainsFunc(grants, func(g grant) bool { return g.allows(r) }) {
			list = append(list, r.String())
		}
	}
	return list
}

// rights looks at what the cluster grants to the group in which the roles of some
// functions are, by whatever roles and bindings.
func (c Clients) rights(ctx context.Context, cluster Cluster, byGroup []functionOf) Finding {
	f := Finding{Part: "ClusterRole", Name: cluster.Name, State: Well, Says: "grants what this release reads"}
	api, err := c.Kubernetes(ctx, cluster)
	if err != nil {
		f.State, f.Says = Unknown, "the Kubernetes API could not be asked: "+err.Error()
		return f
	}
	grants, err := grantsOf(ctx, api, clusterrole.Group)
	if err != nil {
		return unreadable(f, err)
	}
	const apply = "kubectl apply -f deploy/clusterrole.yaml"
	lacking := missing(rightsOf(byGroup), grants)
	switch {
	case len(lacking) == 0:
		return f
	case len(grants) == 0:
		f.State, f.Says = Wrong, "nothing is granted to the group "+clusterrole.Group+": nodes, pods and volumes cannot be read"
		f.Do, f.Command = "Apply deploy/clusterrole.yaml in the cluster.", apply
	default:
		const most = 5
		more := ""
		if len(lacking) > most {
			lacking, more = lacking[:most], fmt.Sprintf(" and %d more", len(lacking)-most)
		}
		f.State, f.Says = Wrong, "is of another release: the group "+clusterrole.Group+" may not "+strings.Join(lacking, ", ")+more
		f.Do, f.Command = "Apply the deploy/clusterrole.yaml of this release in the cluster.", apply
	}
	return f
}

// refusal is a read of the API that came to nothing.
type refusal struct {
	verb, resource string
	err            error
}

func (r *refusal) Error() string {
	return r.verb + " " + r.resource + "." + rbac + ": " + r.err.Error()
}

// Unwrap is why.
func (r *refusal) Unwrap() error { return r.err }

// unreadable is what could not be looked at, with the permission that it takes.
func unreadable(f Finding, err error) Finding {
	f.State, f.Says = Unknown, "could not be read: "+err.Error()
	var r *refusal
	var status *kube.StatusError
	if errors.As(err, &r) && errors.As(err, &status) && (status.Code == http.StatusForbidden || status.Code == http.StatusUnauthorized) {
		what := r.verb + " " + r.resource + "." + rbac
		f.Says, f.Do = what+" was refused", "Run it as somebody who may "+what+" in the cluster."
		if status.Code == http.StatusUnauthorized { // neither an access entry nor aws-auth names the caller
			f.Says = what + " was refused: the cluster does not know these credentials"
		}
	}
	return f
}

// boundRole is what is read of a binding.
type boundRole struct {
	Metadata struct{ Namespace string }
	RoleRef  struct{ Kind, Name string }
	Subjects []struct{ Kind, Name string }
}

// grantsOf are the rules of all roles that are bound to a group.
// A binding to a role that is not there grants nothing.
func grantsOf(ctx context.Context, api Kubernetes, group string) ([]grant, error) {
	var all []grant
	for _, kind := range []string{"clusterrolebindings", "rolebindings"} {
		var list struct{ Items []boundRole }
		if err := read(ctx, api, "list", kind, kind, &list); err != nil {
			return nil, err
		}
		for _, b := range list.Items {
			if !slices.ContainsFunc(b.Subjects, func(s struct{ Kind, Name string }) bool { return s.Kind == "Group" && s.Name == group }) {
				continue
			}
			kind, path := "clusterroles", "clusterroles/"+b.RoleRef.Name
			if b.RoleRef.Kind == "Role" {
				kind, path = "roles", "namespaces/"+b.Metadata.Namespace+"/roles/"+b.RoleRef.Name
			}
			var role struct {
				Rules []struct{ APIGroups, Resources, Verbs, ResourceNames []string }
			}
			err := read(ctx, api, "get", kind, path, &role)
			var status *kube.StatusError
			if errors.As(err, &status) && status.Code == http.StatusNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, r := range role.Rules {
				all = append(all, grant{b.Metadata.Namespace, r.APIGroups, r.Resources, r.Verbs, r.ResourceNames})
			}
		}
	}
	return all, nil
}

func read(ctx context.Context, api Kubernetes, verb, resource, path string, out any) error {
	raw, err := api.Raw(ctx, "/apis/"+rbac+"/v1/"+path, nil)
	if err != nil {
		return &refusal{verb, resource, err}
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &refusal{verb, resource, fmt.Errorf("decode: %w", err)}
	}
	return nil
}
