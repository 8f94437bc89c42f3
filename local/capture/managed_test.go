package capture

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
)

// TestWhatIsNotThereMayBeHidden: that an instance is not in a capture proves
// nothing where EKS Auto Mode runs nodes and nothing that it manages is there, unless the
// account shows it by itself.
func TestWhatIsNotThereMayBeHidden(t *testing.T) {
	const (
		auto    = `{"cluster": {"name": "prod", "computeConfig": {"enabled": true}}}`
		other   = `{"cluster": {"name": "prod"}}`
		plain   = `{"Reservations": [{"Instances": [{"InstanceId": "i-1", "VpcId": "vpc-1"}]}]}`
		managed = `{"Reservations": [{"Instances": [{"InstanceId": "i-1", "VpcId": "vpc-1", "Operator": {"Managed": true, "Principal": "eks.amazonaws.com"}}]}]}`
		hidden  = `{"Visibility": {"DefaultVisibility": "hidden"}}`
		visible = `{"Visibility": {"DefaultVisibility": "visible"}}`
	)
	for _, test := range []struct {
		name, cluster, instances, visibility, refused string
		told                                          bool
	}{
		{"no Auto Mode", other, plain, "", "", true},
		{"Auto Mode, and nobody asked", auto, plain, "", "", false},
		{"a managed instance is there", auto, managed, "", "", true},
		{"the account hides, and something managed is there", auto, managed, hidden, "", true},
		{"the account hides", auto, plain, hidden, "", false},
		{"the account hides, and there is no Auto Mode", other, plain, hidden, "", true},
		{"the account shows all", auto, plain, visible, "", true},
		{"the setting was refused", auto, plain, "", `{"` + visibilityFile + `": {"code": "UnauthorizedOperation"}}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{
				"eks-describe-cluster.prod.json": test.cluster, "ec2-describe-instances.json": test.instances,
				"ec2-describe-network-interfaces.json": `{"NetworkInterfaces": [{"NetworkInterfaceId": "eni-1", "VpcId": "vpc-1", "Description": "Amazon EKS prod"}]}`,
			}
			for name, text := range map[string]string{visibilityFile + ".json": test.visibility, "errors.json": test.refused} {
				if text != "" {
					files[name] = text
				}
			}
			a := opened(t, files).API()
			by := func(name, value string) []ec2types.Filter {
				return []ec2types.Filter{{Name: aws.String(name), Values: []string{value}}}
			}
			_, known := a.DescribeInstances(&ec2.DescribeInstancesInput{Filters: by("instance-id", "i-1")})
			_, unknown := a.DescribeInstances(&ec2.DescribeInstancesInput{Filters: by("instance-id", "i-2")})
			_, all := a.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: by("vpc-id", "vpc-1")})
			_, some := a.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: append(by("vpc-id", "vpc-1"), by("description", "Amazon EKS prod")...)})
			refusal := NotCaptured
			if test.told {
				refusal = ""
			}
			got := []string{code(known), code(unknown), code(all), code(some)}
			if diff := cmp.Diff([]string{"", refusal, refusal, ""}, got); diff != "" {
				t.Errorf("one that is there, one that is not, all interfaces, those of the control plane (-want +got):\n%s", diff)
			}
		})
	}
}

// aCLI stands for the AWS CLI: it writes down how it was called, and knows
// --include-managed-resources or does not.
const aCLI = `#!/bin/sh
case "$*" in
  *--include-managed-resources*) [ -n "$KNOWS" ] || { echo "Unknown options: --include-managed-resources" >&2; exit 252; } ;;
  *get-managed-resource-visibility*) [ -n "$KNOWS" ] || { echo "Invalid choice" >&2; exit 252; } ;;
esac
case "$*" in *--generate-cli-skeleton*) exit 0 ;; esac
echo "$*" >>"$CALLED"
case "$*" in
  *"--output text"*VpcId* | *"--output text"*vpcId*) echo vpc-1 ;;
  *"--output text"*launchtemplate*) echo lt-1 ;;
  *"--output text"*) ;;
  *"--query LaunchTemplateVersions"*) echo "[]" ;;
  *) echo "{}" ;;
esac
`

// script runs capture.sh with that CLI, and gives how it was called and what the
// script said.
func script(t *testing.T, knows string) (calls []string, said string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "aws"), []byte(aCLI), 0o755); err != nil {
		t.Fatal(err)
	}
	called := filepath.Join(dir, "called")
	c := exec.Command("sh", "../capture.sh", "--region", "us-west-2", "--cluster", "prod", "--out", filepath.Join(dir, "out"))
	c.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "CALLED=" + called, "KNOWS=" + knows, "HOME=" + dir}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("capture.sh: %v\n%s", err, out)
	}
	text, err := os.ReadFile(called)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), string(out)
}

// TestTheScriptAsksForManagedResources: every call that can, where the CLI can,
// and the script says where it cannot.
func TestTheScriptAsksForManagedResources(t *testing.T) {
	able := []string{
		"describe-instances", "describe-instance-status", "describe-network-interfaces", "describe-volumes", "describe-volume-status",
		"describe-launch-templates", "describe-launch-template-versions",
	}
	const missing = "this CLI does not have --include-managed-resources"
	for _, knows := range []string{"yes", ""} {
		calls, said := script(t, knows)
		if strings.Contains(said, missing) != (knows == "") {
			t.Errorf("a CLI that knows the parameter (%q): it says\n%s", knows, said)
		}
		seen := map[string]bool{}
		for _, call := range calls {
			words := strings.Fields(call)
			i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(able, w) })
			if i < 0 {
				continue
			}
			seen[words[i]] = true
			if slices.Contains(words, "--include-managed-resources") != (knows != "") {
				t.Errorf("a CLI that knows the parameter (%q) was called as aws %s", knows, call)
			}
		}
		for _, name := range []string{"describe-instances", "describe-instance-status", "describe-network-interfaces", "describe-volumes", "describe-launch-template-versions"} {
			if !seen[name] {
				t.Errorf("no call of %s among %d calls: nothing was tested", name, len(calls))
			}
		}
		if asked := slices.ContainsFunc(calls, func(c string) bool { return strings.Contains(c, "get-managed-resource-visibility") }); asked != (knows != "") {
			t.Errorf("the account's setting was asked for: %v", asked)
		}
	}
}
