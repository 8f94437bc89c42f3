//go:build kube

package kubetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"rollcall/shared/spec"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/kubeapi"

	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// startStage starts the stage's API with objects by their plurals.
func startStage(t *testing.T, objects map[string][]json.RawMessage) *place {
	t.Helper()
	now := time.Now
	authority, err := kubeapi.NewAuthority(now())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(kubeapi.New(kubeapi.Config{
		Version:      "1.36",
		Authenticate: authenticate,
		Objects:      func(plural string) ([]json.RawMessage, string, error) { return objects[plural], "42", nil },
		Faults:       wire.FaultFunc(func(context.Context, *wire.Call) error { return nil }),
		Record:       func(wire.Call) {},
		Now:          now, Wall: now,
	}))
	server.EnableHTTP2 = true
	if server.TLS, err = authority.ServerTLS(); err != nil {
		t.Fatal(err)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return newPlace(t, "stage", server.URL, authority.PEM())
}

// authenticate knows the callers of the token file. The one in the manifest's
// group has the rights that the manifest is made from, as on the stage.
func authenticate(_ context.Context, token string) (kubeapi.User, error) {
	switch token {
	case adminToken:
		all := []string{"*"}
		return kubeapi.User{Name: "admin", Rules: []kubeapi.Rule{{Groups: all, Resources: all, Verbs: all}}}, nil
	case rollcallToken:
		user := kubeapi.User{Name: "arn:aws:iam::123456789012:role/join-check"}
		for _, r := range gather.KubeRules(snapshot.All()...) {
			user.Rules = append(user.Rules, kubeapi.Rule{Groups: []string{r.Group}, Resources: r.Resources, Verbs: r.Verbs, Names: r.Names, Namespaces: namespacesOf(r)})
		}
		return user, nil
	case strangerToken:
		return kubeapi.User{Name: "arn:aws:iam::123456789012:role/stranger"}, nil
	}
	return kubeapi.User{}, errors.New("unknown token")
}

// namespacesOf are the namespaces of a rule, none for the whole cluster.
func namespacesOf(r spec.KubeRule) []string {
	if r.Namespace == "" {
		return nil
	}
	return []string{r.Namespace}
}

// objects lists the objects at a path as they are, on one page.
func (p *place) objects(t *testing.T, path string) []json.RawMessage {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	got := p.ask(t, adminToken, http.MethodGet, path, nil)
	if err := json.Unmarshal(got.body, &list); got.code != http.StatusOK || err != nil {
		t.Fatalf("%s: %s: %d %v", p.name, path, got.code, err)
	}
	return list.Items
}
