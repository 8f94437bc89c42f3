package deploytest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/shared/awsconf"
	"rollcall/shared/config"
	"rollcall/shared/kube"
)

const (
	templateFile = "../../infra/Rollcall.template.json"
	worldFile    = "../worlds/route.yaml"
	cluster      = "eks-workshop"
	manifest     = "../../deploy/clusterrole.yaml"
)

// started is the route story's stage with a cluster in an authentication mode,
// and with something in aws-auth. No function runs in it.
func started(t *testing.T, mode ekstypes.AuthenticationMode, mapRoles func(account string) string) *stage.Stage {
	t.Helper()
	s, err := stage.Start(t.Context(), stage.Options{
		World: worldFile, Template: templateFile, Rights: manifest, Quiet: true,
		Change: func(f *worldfile.File) {
			for i := range f.EKS.Clusters {
				f.EKS.Clusters[i].AccessConfig = &ekstypes.AccessConfigResponse{AuthenticationMode: mode}
			}
			kubernetes := f.Kubernetes[cluster]
			kubernetes.ConfigMaps = []map[string]any{{
				"metadata": map[string]any{"name": "aws-auth", "namespace": "kube-system"},
				"data":     map[string]any{"mapRoles": mapRoles(f.Account)},
			}}
			f.Kubernetes[cluster] = kubernetes
		},
	})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// outputs are the template's.
func outputs(t *testing.T) map[string]struct{ Value any } {
	t.Helper()
	raw, err := os.ReadFile(templateFile)
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Outputs map[string]struct{ Value any }
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	return template.Outputs
}

// lines is the output AwsAuthRoles as the account shows it after a deployment.
func lines(t *testing.T, account string) string {
	t.Helper()
	var join struct {
		Parts []any `json:"Fn::Join"`
	}
	raw, err := json.Marshal(outputs(t)["AwsAuthRoles"].Value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &join); err != nil || len(join.Parts) != 2 {
		t.Fatalf("AwsAuthRoles is %s: %v", raw, err)
	}
	var b strings.Builder
	for _, part := range join.Parts[1].([]any) {
		switch p := part.(type) {
		case string:
			b.WriteString(p)
		case map[string]any:
			if id := p["Fn::GetAtt"].([]any)[0].(string); !strings.HasPrefix(id, "ReaderRole") {
				t.Fatalf("AwsAuthRoles names %s", id)
			}
			b.WriteString("arn:aws:iam::" + account + ":role/rollcall-reader-us-west-2")
		}
	}
	return b.String()
}

// nodes lists the cluster's nodes as a function does: as the reader.
func nodes(t *testing.T, s *stage.Stage, function string) (int, error) {
	t.Helper()
	for _, f := range s.Template.Functions {
		if f.Name != function && !strings.HasSuffix(f.Name, "-"+function) {
			continue
		}
		token, err := kube.Token(t.Context(), sts.NewPresignClient(sts.NewFromConfig(awsconf.Assume(s.AsFunction(f), awsconf.Role{ARN: f.Environment[string(config.ReaderRole)], Session: f.Name}, time.Now))), cluster)
		if err != nil {
			t.Fatal(err)
		}
		endpoint, ca, ok := s.Cloud.Kubernetes(cluster)
		if !ok {
			t.Fatalf("%s has no Kubernetes API", cluster)
		}
		client, err := kube.New(endpoint, ca, token)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		list, err := client.Nodes(t.Context())
		return len(list), err
	}
	t.Fatalf("the stage has no function %s", function)
	return 0, nil
}

// In a cluster of mode CONFIG_MAP the lines that the stack prints, and the
// ClusterRole, let the functions read; without the lines nobody is known.
func TestWhatAConfigMapClusterIsToldToAdd(t *testing.T) {
	s := started(t, ekstypes.AuthenticationModeConfigMap, func(account string) string { return lines(t, account) })
	for _, function := range []string{"join-check", "nodegroup-watch", "subnet-watch", "zone-watch", "sweep", "remediate", "spot-report"} {
		if n, err := nodes(t, s, function); err != nil || n == 0 {
			t.Errorf("%s: %d nodes, %v", function, n, err)
		}
	}
	s = started(t, ekstypes.AuthenticationModeConfigMap, func(string) string { return "" })
	_, err := nodes(t, s, "join-check")
	var refused *kube.StatusError
	if !errors.As(err, &refused) || refused.Code != 401 {
		t.Errorf("without the lines: %v", err)
	}
}

// byHand looks before a deployment while the cluster has the reader's entry of an operator,
// which EKS would have the stack's fail by; then the operator deletes it.
func byHand(t *testing.T, s *stage.Stage, program string) {
	t.Helper()
	role := "arn:aws:iam::" + s.Template.AccountID + ":role/rollcall-reader-" + s.Template.Region
	check := exec.Command(program, "-for", "deploy", "-c", "slackChannel=C0123456789", "-c", "clusters="+cluster)
	for name, value := range s.AdminEnv() {
		check.Env = append(check.Env, name+"="+value)
	}
	out, err := check.CombinedOutput()
	if want := "aws eks delete-access-entry --region " + s.Template.Region + " --cluster-name " + cluster + " --principal-arn " + role; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("beside an entry made by hand: %v, want %q in\n%s", err, want, out)
	}
	var used *ekstypes.ResourceInUseException
	if _, err := eks.NewFromConfig(s.AsAdmin()).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role}); !errors.As(err, &used) {
		t.Errorf("a second entry: %v", err)
	}
	if _, err := eks.NewFromConfig(s.AsAdmin()).DeleteAccessEntry(t.Context(), &eks.DeleteAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role}); err != nil {
		t.Fatal(err)
	}
}

// EKS refuses what would roll the stack back, and the look before a deployment
// finds it: the program says it, and hands the cluster on to the synthesis.
func TestConfigMapClusterIsFoundBeforeTheDeployment(t *testing.T) {
	program := filepath.Join(t.TempDir(), "checkaccount")
	if out, err := exec.Command("go", "build", "-o", program, "rollcall/infra/checkaccount").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []struct {
		mode       ekstypes.AuthenticationMode
		refused    bool
		want, said string
	}{
		{ekstypes.AuthenticationModeConfigMap, true, "-c configMapClusters=" + cluster + "\n", cluster + ": authentication mode CONFIG_MAP. EKS refuses access entries there"},
		{ekstypes.AuthenticationModeApiAndConfigMap, false, "", "deploy: account "},
		{ekstypes.AuthenticationModeApi, false, "", "deploy: account "},
	} {
		t.Run(string(test.mode), func(t *testing.T) {
			s := started(t, test.mode, func(string) string { return "" })
			_, err := eks.NewFromConfig(s.AsAdmin()).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{
				ClusterName: aws.String(cluster), PrincipalArn: aws.String("arn:aws:iam::111122223333:role/another"),
			})
			var invalid *ekstypes.InvalidRequestException
			if test.refused != errors.As(err, &invalid) || err != nil && !test.refused {
				t.Errorf("an access entry: %v", err)
			}
			check := exec.Command(program, "-for", "deploy", "-c", "slackChannel=C0123456789", "-c", "clusters="+cluster)
			if !test.refused {
				byHand(t, s, program)
			}
			check.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
			for name, value := range s.AdminEnv() {
				check.Env = append(check.Env, name+"="+value)
			}
			var said strings.Builder
			check.Stderr = &said
			out, err := check.Output()
			if err != nil || string(out) != test.want || !strings.Contains(said.String(), test.said) {
				t.Errorf("printed %q, want %q; said %q, want %q in it; %v", out, test.want, said.String(), test.said, err)
			}
			if test.refused == strings.Contains(said.String(), "CONFIG_MAP") {
				return
			}
			t.Errorf("CONFIG_MAP is said: %v", !test.refused)
		})
	}
	// A cluster that is not there would roll the stack back too.
	s := started(t, ekstypes.AuthenticationModeApi, func(string) string { return "" })
	check := exec.Command(program, "-for", "deploy", "-c", "slackChannel=C0123456789", "-c", "clusters=eks-workshp")
	for name, value := range s.AdminEnv() {
		check.Env = append(check.Env, name+"="+value)
	}
	out, err := check.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "EKS has no cluster eks-workshp in "+s.Template.Region) {
		t.Errorf("a misspelt cluster: %v\n%s", err, out)
	}
}
