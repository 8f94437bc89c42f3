package relay

import (
	"net/netip"
	"strings"
	"testing"

	"rollcall/tools/testfile"

	"github.com/google/go-cmp/cmp"
)

func own() Own {
	return Own{Cluster: "arn:aws:eks:eu-west-1:222233334444:cluster/prod", Endpoint: "https://A1.gr7.eu-west-1.eks.amazonaws.com"}
}

func good() Request {
	return Request{
		Cluster: own().Cluster, Endpoint: own().Endpoint, Path: "/api/v1/pods", Token: "k8s-aws-v1.aHR0cHM6Ly9zdHM_",
		Query: map[string]string{"limit": "500", "continue": "eyJ2IjoibWV0YSJ9", "fieldSelector": "status.phase=Pending"},
	}
}

// TestJudge: what a relay is not for it refuses, each with its reason.
func TestJudge(t *testing.T) {
	raw := testfile.JSON(t, good())
	if got, refused := own().Judge(raw); refused != nil || cmp.Diff(good(), got) != "" {
		t.Fatalf("what it is for: %v, %+v", refused, got)
	}
	for name, change := range map[string]func(*Request){
		"the longest token": func(r *Request) { r.Token += strings.Repeat("A", mostToken-len(r.Token)) },
		"the longest value": func(r *Request) { r.Query = map[string]string{"labelSelector": strings.Repeat("a", mostValue)} },
		"a limit of one":    func(r *Request) { r.Query = map[string]string{"limit": "1"} },
		"no query":          func(r *Request) { r.Query = nil },
	} {
		r := good()
		change(&r)
		raw := testfile.JSON(t, r)
		if _, refused := own().Judge(raw); refused != nil {
			t.Errorf("%s: %v", name, refused)
		}
	}
	if padded := strings.Repeat(" ", mostRequest-len(raw)) + string(raw); len(padded) != mostRequest {
		t.Errorf("%d bytes", len(padded))
	} else if _, refused := own().Judge([]byte(padded)); refused != nil {
		t.Errorf("the longest request: %v", refused)
	}
	path := func(text string) func(*Request) { return func(r *Request) { r.Path = text } }
	query := func(key, value string) func(*Request) {
		return func(r *Request) { r.Query = map[string]string{key: value} }
	}
	for name, x := range map[string]struct {
		change func(*Request)
		want   Reason
	}{
		"another account's cluster":   {func(r *Request) { r.Cluster = "arn:aws:eks:eu-west-1:111122223333:cluster/prod" }, OtherCluster},
		"another region's cluster":    {func(r *Request) { r.Cluster = "arn:aws:eks:us-east-1:222233334444:cluster/prod" }, OtherCluster},
		"another partition's cluster": {func(r *Request) { r.Cluster = "arn:aws-cn:eks:eu-west-1:222233334444:cluster/prod" }, OtherCluster},
		"a neighbour":                 {func(r *Request) { r.Cluster += "-2" }, OtherCluster},
		"a name alone":                {func(r *Request) { r.Cluster = "prod" }, OtherCluster},
		"no cluster":                  {func(r *Request) { r.Cluster = "" }, OtherCluster},
		"made anew":                   {func(r *Request) { r.Endpoint = "https://B2.gr7.eu-west-1.eks.amazonaws.com" }, OtherEndpoint},
		"another host":                {func(r *Request) { r.Endpoint = "https://169.254.169.254" }, OtherEndpoint},
		"a path at the endpoint":      {func(r *Request) { r.Endpoint += "/api/v1/secrets?" }, OtherEndpoint},
		"no token":                    {func(r *Request) { r.Token = "" }, ForeignToken},
		"a service account's token":   {func(r *Request) { r.Token = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln" }, ForeignToken},
		"a header within the token":   {func(r *Request) { r.Token += "\r\nImpersonate-User: system:admin" }, ForeignToken},
		"a long token":                {func(r *Request) { r.Token += strings.Repeat("A", mostToken) }, ForeignToken},
		"secrets":                     {path("/api/v1/secrets"), ForbiddenPath},
		"secrets of a namespace":      {path("/api/v1/namespaces/kube-system/secrets"), ForbiddenPath},
		"all ConfigMaps":              {path("/api/v1/namespaces/kube-system/configmaps"), ForbiddenPath},
		"another ConfigMap":           {path("/api/v1/namespaces/kube-system/configmaps/kubeconfig"), ForbiddenPath},
		"another namespace's pods":    {path("/api/v1/namespaces/default/pods"), ForbiddenPath},
		"a pod's log":                 {path("/api/v1/namespaces/kube-system/pods/aws-node-x/log"), ForbiddenPath},
		"a shell":                     {path("/api/v1/namespaces/kube-system/pods/aws-node-x/exec"), ForbiddenPath},
		"a node's proxy":              {path("/api/v1/nodes/ip-10-0-0-1/proxy/"), ForbiddenPath},
		"one node":                    {path("/api/v1/nodes/ip-10-0-0-1"), ForbiddenPath},
		"upwards":                     {path("/api/v1/nodes/../secrets"), ForbiddenPath},
		"upwards, escaped":            {path("/api/v1/nodes/%2e%2e/secrets"), ForbiddenPath},
		"to the same place":           {path("/api/v1/./pods"), ForbiddenPath},
		"two slashes":                 {path("//api/v1/pods"), ForbiddenPath},
		"a slash at the end":          {path("/api/v1/pods/"), ForbiddenPath},
		"a whole address":             {path("https://example.com/api/v1/pods"), ForbiddenPath},
		"an address without a scheme": {path("//example.com/api/v1/pods"), ForbiddenPath},
		"another user at a host":      {path("@example.com/api/v1/pods"), ForbiddenPath},
		"a query in the path":         {path("/api/v1/pods?watch=true"), ForbiddenPath},
		"a fragment":                  {path("/api/v1/pods#"), ForbiddenPath},
		"capitals":                    {path("/API/v1/pods"), ForbiddenPath},
		"a line's end":                {path("/api/v1/pods\r\nHost: example.com"), ForbiddenPath},
		"another version":             {path("/apis/karpenter.sh/v1beta1/nodepools"), ForbiddenPath},
		"what there is":               {path("/apis"), ForbiddenPath},
		"nothing":                     {path(""), ForbiddenPath},
		"a watch":                     {query("watch", "true"), ForbiddenQuery},
		"on behalf of another":        {query("impersonate", "x"), ForbiddenQuery},
		"pretty":                      {query("pretty", "true"), ForbiddenQuery},
		"no limit":                    {query("limit", "0"), ForbiddenQuery},
		"a limit that overflows":      {query("limit", "99999999999999999999"), ForbiddenQuery},
		"a limit of words":            {query("limit", "all"), ForbiddenQuery},
		"an endless value":            {query("labelSelector", strings.Repeat("a", mostValue+1)), ForbiddenQuery},
		"a list of what is one": {func(r *Request) {
			r.Path, r.Query = "/api/v1/namespaces/kube-system/configmaps/aws-auth", map[string]string{"limit": "1"}
		}, ForbiddenQuery},
	} {
		r := good()
		x.change(&r)
		raw := testfile.JSON(t, r)
		if got, refused := own().Judge(raw); refused == nil || refused.Reason != x.want || cmp.Diff(Request{}, got) != "" {
			t.Errorf("%s: %v, want %s", name, refused, x.want)
		} else if strings.Contains(refused.Says, r.Token) && r.Token != "" {
			t.Errorf("%s: the refusal has the token: %s", name, refused.Says)
		}
	}
	text := string(raw)
	for name, raw := range map[string]string{
		"nothing": "", "no object": "[]", "no JSON": "{", "a method": strings.Replace(text, "{", `{"method":"POST",`, 1), "a body": strings.Replace(text, "{", `{"body":"x",`, 1),
		"an address": strings.Replace(text, "{", `{"url":"https://example.com",`, 1), "two": text + text, "several values": strings.Replace(text, `"500"`, `["500"]`, 1),
		"too long": strings.Repeat(" ", mostRequest) + text, "null twice": "null null",
	} {
		if _, refused := own().Judge([]byte(raw)); refused == nil || refused.Reason != Malformed {
			t.Errorf("%s: %v, want %s", name, refused, Malformed)
		}
	}
}

// FuzzJudge: whatever is asked, what is let through is one of the paths of this cluster.
func FuzzJudge(f *testing.F) {
	raw := testfile.JSON(f, good())
	f.Add(raw)
	f.Add([]byte(`{"cluster":"arn:aws:eks:eu-west-1:222233334444:cluster/prod","path":"/api/v1/nodes/../secrets"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, refused := own().Judge(raw)
		if refused != nil {
			return
		}
		if _, known := lookup(got.Path); !known || got.Cluster != own().Cluster || got.Endpoint != own().Endpoint || strings.ContainsAny(got.Token, "\r\n \"") {
			t.Errorf("let through: %+v", got)
		}
	})
}

func TestFunctionName(t *testing.T) {
	long := strings.Repeat("a", 99)
	for _, x := range []struct{ prefix, cluster, want string }{
		{"rollcall", "prod", "rollcall-relay-prod"},
		{"rollcall", strings.Repeat("a", 49), "rollcall-relay-" + strings.Repeat("a", 49)},
		// printf '%050d' 0 | tr 0 a | sha256sum: 160b4e433e384e05…
		{"rollcall", strings.Repeat("a", 50), "rollcall-relay-" + strings.Repeat("a", 40) + "-160b4e43"},
	} {
		if got := FunctionName(x.prefix, x.cluster); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
	one, other := FunctionName("rollcall", long+"1"), FunctionName("rollcall", long+"2")
	if len(one) != mostName || one == other || !strings.HasPrefix(one, "rollcall-relay-aaa") {
		t.Errorf("long names: %s, %s", one, other)
	}
}

// What people and logs read of a relay that did not answer as asked.
func TestErrors(t *testing.T) {
	for want, err := range map[string]error{
		"the relay refuses (ForbiddenPath): not this": &Refusal{ForbiddenPath, "not this"},
		"no answer within 10 s":                       &Failure{TimedOut, "no answer within 10 s"},
		"the API has a private endpoint only, and there is no function rollcall-relay-prod, its relay": &MissingError{Function: "rollcall-relay-prod"},
		"the API's public endpoint is open to 203.0.113.0/24, 198.51.100.7/32 alone, and does not answer Rollcall; there is no function rollcall-relay-prod, its relay": &MissingError{
			Function: "rollcall-relay-prod", OpenTo: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("198.51.100.7/32")}},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// TestPathString: the forms of a path, as the Kubernetes documentation has them ("API
// concepts", "Resource URIs").
func TestPathString(t *testing.T) {
	for want, p := range map[string]Path{
		"/api/v1/nodes": {Version: "v1", Resource: "nodes"},
		"/api/v1/namespaces/kube-system/configmaps/aws-auth":       {Version: "v1", Namespace: "kube-system", Resource: "configmaps", Name: "aws-auth"},
		"/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node": {Group: "apps", Version: "v1", Namespace: "kube-system", Resource: "daemonsets", Name: "aws-node"},
		"/apis/karpenter.sh/v1/nodepools":                          {Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Each path is of one list, and says so the same way each time.
func TestPathsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Paths() {
		text := p.String()
		if seen[text] || strings.Contains(text, "//") {
			t.Errorf("%s", text)
		}
		seen[text] = true
		if got, ok := lookup(text); !ok || got != p {
			t.Errorf("%s is %+v", text, got)
		}
	}
}
