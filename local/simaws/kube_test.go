package simaws

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/local/simaws/kubeapi"
)

// nodes lists the nodes as Rollcall does: endpoint and authority from
// DescribeCluster, a presigned token, a GET.
func (c *Cloud) nodes(t *testing.T, id Identity, cluster, tokenFor string) (int, string) {
	t.Helper()
	sdk := c.sdk(id)
	out, err := eks.NewFromConfig(sdk).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: &cluster})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := base64.StdEncoding.DecodeString(*out.Cluster.CertificateAuthority.Data)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatal("the authority is not PEM")
	}
	signed, err := sts.NewPresignClient(sts.NewFromConfig(sdk)).PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}, func(po *sts.PresignOptions) {
		po.ClientOptions = append(po.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("x-k8s-aws-id", tokenFor), smithyhttp.SetHeaderValue("X-Amz-Expires", "60"))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, *out.Cluster.Endpoint+"/api/v1/nodes?resourceVersion=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer k8s-aws-v1."+base64.RawURLEncoding.EncodeToString([]byte(signed.URL)))
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestKubernetesAccess(t *testing.T) {
	joinCheck, report, admin := RoleIdentity(testAccount, "join-check"), RoleIdentity(testAccount, "report"), AdminIdentity(testAccount, "you")
	const role = "prod arn:aws:iam::123456789012:role/join-check"
	entry := map[string][]string{role: nil}
	tests := []struct {
		name     string
		id       Identity
		world    smallWorld
		cluster  string
		tokenFor string
		code     int
	}{
		{"no entry", joinCheck, smallWorld{}, "prod", "prod", 401},
		{"entry of another role", report, smallWorld{groups: entry}, "prod", "prod", 401},
		{"entry in another cluster", joinCheck, smallWorld{groups: entry}, "staging", "staging", 401},
		{"token of another cluster", admin, smallWorld{}, "prod", "staging", 401},
		{"entry without a policy", joinCheck, smallWorld{groups: entry}, "prod", "prod", 403},
		{"view policy has no nodes", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonEKSViewPolicy")}}}, "prod", "prod", 403},
		{"AIOps policy", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonAIOpsAssistantPolicy")}}}, "prod", "prod", 200},
		{"second page of policies", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonEKSViewPolicy"), policy("AmazonEKSAdminViewPolicy")}}}, "prod", "prod", 200},
		{"for a namespace only", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonEKSAdminViewPolicy", "default")}}}, "prod", "prod", 403},
		{"group", joinCheck, smallWorld{groups: map[string][]string{role: {"rollcall"}}}, "prod", "prod", 200},
		{"unknown group", joinCheck, smallWorld{groups: map[string][]string{role: {"others"}}}, "prod", "prod", 403},
		{"admin", admin, smallWorld{}, "prod", "prod", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, func(cfg *Config) {
				cfg.World, cfg.Clusters = tt.world, []string{"prod", "staging"}
				cfg.Groups = map[string][]kubeapi.Rule{"rollcall": {{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list"}}}}
				cfg.Objects = func(cluster, plural string) ([]json.RawMessage, string, error) {
					return []json.RawMessage{json.RawMessage(`{"metadata":{"name":"` + plural + ` of ` + cluster + `"}}`)}, "7", nil
				}
			})
			code, body := c.nodes(t, tt.id, tt.cluster, tt.tokenFor)
			if code != tt.code {
				t.Errorf("status = %d %s, want %d", code, body, tt.code)
			}
			if code == 200 && !strings.Contains(body, `"nodes of `+tt.cluster+`"`) {
				t.Errorf("body = %s, want the nodes of %s", body, tt.cluster)
			}
			calls := c.Calls()
			if last := calls[len(calls)-1]; last.Action() != "kubernetes:list nodes" || last.Status != tt.code {
				t.Errorf("last call = %+v, want list nodes with %d", last, tt.code)
			}
		})
	}
}

func policy(name string, namespaces ...string) ekstypes.AssociatedAccessPolicy {
	scope := &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster}
	if len(namespaces) > 0 {
		scope = &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeNamespace, Namespaces: namespaces}
	}
	return ekstypes.AssociatedAccessPolicy{PolicyArn: aws.String("arn:aws:eks::aws:cluster-access-policy/" + name), AccessScope: scope}
}
