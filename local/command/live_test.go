package command

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/local/callertest"
	"rollcall/local/diagnose"
	"rollcall/local/result"
	"rollcall/shared/kube"
)

const cluster = "eks-workshop"

// TestLive is the command as a person types it, against a world with a blackhole behind
// real ports: a profile's endpoint, EKS's own way to Kubernetes or a kubeconfig's.
func TestLive(t *testing.T) {
	s, at := callertest.Serve(t, filepath.Join("..", "worlds", "route-blackhole.yaml"), diagnose.Settled)
	callertest.LogIn(t, s)
	endpoint, ca, _ := s.Cloud.Kubernetes(cluster)
	context := filepath.Join(t.TempDir(), "kubeconfig")
	token, err := kube.Token(t.Context(), sts.NewPresignClient(sts.NewFromConfig(s.AsAdmin())), cluster)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := func(server string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\ncontexts: [{name: here, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: %s}}]\n",
			server, base64.StdEncoding.EncodeToString(ca), token)
	}
	if err := os.WriteFile(context, []byte(kubeconfig(endpoint)), 0o600); err != nil {
		t.Fatal(err)
	}
	admin := s.AdminEnv()
	const cause, clean = "FAULT eks-workshop / new_nodegroup_2 · ", "eks-workshop: every instance that should be a node is one"
	for name, tt := range map[string]struct {
		args   string
		env    map[string]string
		status int
		says   string // in what is printed, or the whole of what is wrong
	}{
		"a cluster":                       {"--cluster eks-workshop", nil, 1, cause},
		"all clusters":                    {"--all-clusters", nil, 1, cause},
		"a profile of the command line":   {"--cluster eks-workshop --profile stage", map[string]string{"AWS_PROFILE": "other"}, 1, cause},
		"an endpoint of the command line": {"--cluster eks-workshop --region us-west-2 --endpoint-url " + admin["AWS_ENDPOINT_URL"], map[string]string{"AWS_CONFIG_FILE": "/dev/null", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": admin["AWS_ACCESS_KEY_ID"], "AWS_SECRET_ACCESS_KEY": admin["AWS_SECRET_ACCESS_KEY"]}, 1, cause},
		"a context":                       {"--cluster eks-workshop --context here", map[string]string{"KUBECONFIG": context}, 1, cause},
		"a kubeconfig":                    {"--cluster eks-workshop --kubeconfig " + context, nil, 1, cause},
		"what is not known, once":         {"--cluster eks-workshop", nil, 1, "\nNot known here\n  how launches of the last weeks went"},
		"a nodegroup in trouble":          {"--cluster eks-workshop --nodegroup new_nodegroup_2", nil, 1, cause},
		"a nodegroup that is well":        {"--cluster eks-workshop --nodegroup default", nil, 0, clean},
		"an instance in trouble":          {"--instance i-0ff8170bdcdf5f682", nil, 1, cause},
		"of another cluster":              {"--instance i-0ff8170bdcdf5f682 --cluster prod", nil, 64, "rollcall: i-0ff8170bdcdf5f682 is of cluster eks-workshop, by its tags\n"},
		"no such cluster":                 {"--cluster eks-workshp", nil, 64, "rollcall: there is no cluster eks-workshp in us-west-2 of account 111122223333; is it eks-workshop?\n"},
		"no such nodegroup":               {"--cluster eks-workshop --nodegroup defalt", nil, 64, "rollcall: eks-workshop has no nodegroup, NodePool or group defalt, only "},
		"no such instance":                {"--instance i-0123456789abcdef0", nil, 64, "rollcall: EC2 shows no instance i-0123456789abcdef0 in us-west-2 of account 111122223333\n"},
		"no such profile":                 {"--cluster eks-workshop --profile ops", nil, 64, "rollcall: there is no profile ops in "},
		"no such context":                 {"--cluster eks-workshop --context there", map[string]string{"KUBECONFIG": context}, 64, "rollcall: the kubeconfig: context \"there\" does not exist\n"},
		"nobody listens":                  {"--cluster eks-workshop --endpoint-url http://127.0.0.1:1", nil, 2, "rollcall: AWS cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused\n"},
		"no credentials":                  {"--cluster eks-workshop --region us-west-2", map[string]string{"AWS_PROFILE": "", "AWS_CONFIG_FILE": "/dev/null"}, 64, "rollcall: there are no AWS credentials: "},
		"watched until all have joined":   {"--cluster eks-workshop --nodegroup default --watch", nil, 0, "  eks-workshop: all have joined\n"},
		"a page of many looks":            {"--cluster eks-workshop --html x.html --watch", nil, 64, "rollcall: --html and --watch: a page is of one look\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			var out, errs bytes.Buffer
			status := command(append([]string{"diagnose", "--at", at.Format(time.RFC3339)}, strings.Fields(tt.args)...), &out, &errs)
			if status != tt.status {
				t.Fatalf("status %d, want %d\n%s%s", status, tt.status, out.String(), errs.String())
			}
			wrong := strings.HasPrefix(tt.says, "rollcall: ")
			if wrong && (!strings.HasPrefix(errs.String(), tt.says) || strings.Count(errs.String(), "\n") != 1 || out.Len() > 0) || !wrong && (!strings.Contains(out.String(), tt.says) || errs.Len() > 0) {
				t.Errorf("prints %q, %q, want %q", out.String(), errs.String(), tt.says)
			}
		})
	}
	t.Run("as JSON", func(t *testing.T) {
		var out, errs bytes.Buffer
		if status := command([]string{"diagnose", "--json", "--at", at.Format(time.RFC3339), "--cluster", cluster}, &out, &errs); status != 1 || errs.Len() > 0 {
			t.Errorf("status %d, %s", status, errs.String())
		}
		if r := decoded(t, out.Bytes()); len(r.Notes) != 1 || first(r) != "route/blackhole certain" {
			t.Errorf("notes %q, first %q", r.Notes, first(r))
		}
	})
	t.Run("a context of another cluster", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "kubeconfig")
		ca = []byte("of another")
		if err := os.WriteFile(other, []byte(kubeconfig("https://other.invalid")), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		status := command([]string{"diagnose", "--cluster", cluster, "--kubeconfig", other}, &out, &errs)
		if want := "rollcall: context here is of another cluster: it goes to https://other.invalid, and eks-workshop is at " + endpoint + "\n"; status != 64 || errs.String() != want {
			t.Errorf("status %d, %q, want %q", status, errs.String(), want)
		}
	})
}

// What is refused is named with the permission that it takes, and nothing is taken for
// well that nobody could look at.
func TestLiveNamesWhatIsRefused(t *testing.T) {
	s, at := callertest.Serve(t, filepath.Join("..", "worlds", "denied-route-tables.yaml"), diagnose.Settled)
	callertest.LogIn(t, s)
	var out, errs bytes.Buffer
	status := command([]string{"diagnose", "--at", at.Format(time.RFC3339), "--cluster", cluster}, &out, &errs)
	if status != 2 || !strings.Contains(out.String(), "ec2:DescribeRouteTables: denied (UnauthorizedOperation") {
		t.Errorf("status %d, want the permission named:\n%s%s", status, out.String(), errs.String())
	}
}

func decoded(t *testing.T, printed []byte) result.Result {
	t.Helper()
	var r result.Result
	if err := json.Unmarshal(printed, &r); err != nil {
		t.Fatalf("%v in %q", err, printed)
	}
	return r
}
