//go:build cli

package take_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/command/capture/take"
	"rollcall/stage"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/expect"
)

// TestAsTheCLI holds each file of a capture against what the AWS CLI and kubectl print for
// the same question. Both must be installed. Times are compared as times: the CLI's
// versions print them in different forms.
func TestAsTheCLI(t *testing.T) {
	file := filepath.Join("..", "..", "..", "stage", "worlds", "samples.yaml")
	w, err := worldfile.Load(file)
	expect.OK(t, err)
	at := w.Time.Add(settled)
	s, err := stage.Start(t.Context(), stage.Options{
		World: file, At: at, Template: filepath.Join("..", "..", "..", "infra", "Rollcall.template.json"), Quiet: true, Rate: 1e-3,
	})
	expect.OK(t, err)
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "capture")
	cfg := s.AsAdmin()
	if _, err := take.Take(t.Context(), take.Account{Config: cfg, Kubernetes: take.ByToken(cfg, take.Straight)}, take.Options{Dir: dir, Instances: 50, Now: at}); err != nil {
		t.Fatal(err)
	}
	c := newCLI(t, s.AdminEnv())
	var mu sync.Mutex
	compared := 0
	var group sync.WaitGroup
	slots := make(chan struct{}, 4) // each call starts a process
	for _, name := range names(t, dir) {
		args, ok := asked(strings.TrimSuffix(name, ".json"), dir, t)
		if !ok {
			continue
		}
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			want, err := c.prints(args)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			delete(want, "MaxResults") // the CLI's, of a list that it joins
			if diff := cmp.Diff(plain("", want), plain("", full(want, tree(t, []byte(read(t, filepath.Join(dir, name))))))); diff != "" {
				t.Errorf("%s (-CLI +taken):\n%s", name, diff)
			}
			mu.Lock()
			compared++
			mu.Unlock()
		})
	}
	group.Wait()
	if compared < 70 {
		t.Errorf("%d files were compared", compared)
	}
	t.Logf("%d files", compared)
}

// asked is the command whose output a file is, "" for what no command prints.
func asked(name, dir string, t *testing.T) ([]string, bool) {
	parts := strings.Split(name, ".")
	keys := make([]string, 3)
	for i, k := range parts[1:] {
		keys[i] = strings.NewReplacer("%2E", ".", "__", "/").Replace(k)
	}
	vpc := func(filter string) []string {
		return []string{filter, "Name=vpc-id,Values=" + text(t, dir, "eks-describe-cluster.eks-workshop", "cluster", "resourcesVpcConfig", "vpcId")}
	}
	service, command, _ := strings.Cut(parts[0], "-")
	if operation, is := strings.CutPrefix(parts[0], "arc-zonal-shift-"); is {
		service, command = "arc-zonal-shift", operation
	}
	args := []string{service, command}
	switch parts[0] {
	case "time", "errors", "left-out", "cloudtrail-lookup-events",
		// Joined of several commands.
		"ec2-describe-launch-template-versions", "autoscaling-describe-scaling-activities", "ec2-describe-images", "ec2-describe-instance-types":
		return nil, false
	case "eks-describe-cluster":
		return append(args, "--name", keys[0]), true
	case "eks-list-nodegroups", "eks-list-addons", "eks-list-access-entries", "eks-list-pod-identity-associations":
		return append(args, "--cluster-name", keys[0]), true
	case "eks-describe-nodegroup":
		return append(args, "--cluster-name", keys[0], "--nodegroup-name", keys[1]), true
	case "eks-describe-addon":
		return append(args, "--cluster-name", keys[0], "--addon-name", keys[1]), true
	case "eks-describe-access-entry":
		return append(args, "--cluster-name", keys[0], "--principal-arn", text(t, dir, name, "accessEntry", "principalArn")), true
	case "eks-describe-pod-identity-association":
		return append(args, "--cluster-name", keys[0], "--association-id", keys[1]), true
	case "eks-list-updates":
		return append(args, "--name", keys[0], "--nodegroup-name", keys[1]), true
	case "eks-describe-update":
		return append(args, "--name", keys[0], "--nodegroup-name", keys[1], "--update-id", keys[2]), true
	case "ec2-describe-vpc-attribute":
		return append(args, "--vpc-id", keys[0], "--attribute", keys[1]), true
	case "ec2-describe-instance-attribute":
		return append(args, "--instance-id", keys[0], "--attribute", keys[1]), true
	case "ec2-get-console-output":
		return append(args, "--instance-id", keys[0], "--latest"), true
	case "ec2-get-subnet-cidr-reservations":
		return append(args, "--subnet-id", keys[0]), true
	case "ec2-get-managed-prefix-list-entries":
		return append(args, "--prefix-list-id", keys[0]), true
	case "ec2-describe-instance-type-offerings":
		return append(args, "--location-type", "availability-zone"), true
	case "ec2-describe-instance-status":
		return append(args, "--include-all-instances", "--include-managed-resources"), true
	case "ec2-describe-volumes":
		return append(args, "--include-managed-resources"), true
	case "ec2-describe-nat-gateways":
		return append(args, vpc("--filter")...), true
	case "ec2-describe-instances", "ec2-describe-network-interfaces":
		return append(append(args, "--include-managed-resources"), vpc("--filters")...), true
	case "ec2-describe-subnets", "ec2-describe-vpcs", "ec2-describe-route-tables", "ec2-describe-vpc-endpoints", "ec2-describe-security-groups", "ec2-describe-network-acls":
		return append(args, vpc("--filters")...), true
	case "route53-list-hosted-zones-by-vpc":
		return append(args, "--vpc-id", keys[0], "--vpc-region", "us-west-2"), true
	case "route53-list-resource-record-sets":
		return append(args, "--hosted-zone-id", keys[0]), true
	case "route53profiles-list-profile-resource-associations":
		return append(args, "--profile-id", keys[0]), true
	case "route53resolver-list-firewall-rules":
		return append(args, "--firewall-rule-group-id", keys[0]), true
	case "route53resolver-list-firewall-domains":
		return append(args, "--firewall-domain-list-id", keys[0]), true
	case "iam-get-instance-profile":
		return append(args, "--instance-profile-name", keys[0]), true
	case "iam-get-role", "iam-list-attached-role-policies", "iam-list-role-policies":
		return append(args, "--role-name", keys[0]), true
	case "iam-get-role-policy":
		return append(args, "--role-name", keys[0], "--policy-name", keys[1]), true
	case "iam-get-policy-version":
		return append(args, "--policy-arn", "arn:aws:iam::aws:policy/"+keys[0], "--version-id", text(t, dir, name, "PolicyVersion", "VersionId")), true
	}
	if service != "kubectl" {
		return args, true
	}
	what := strings.TrimPrefix(command, "get-")
	get := map[string][]string{
		"daemonset-aws-node": {"daemonset", "aws-node", "-n", "kube-system"}, "serviceaccount-aws-node": {"serviceaccount", "aws-node", "-n", "kube-system"},
		"configmap-aws-auth": {"configmap", "aws-auth", "-n", "kube-system"}, "pods": {"pods", "-A"}, "pvc": {"pvc", "-A"}, "events": {"events", "-A"},
	}[what]
	if get == nil {
		get = []string{what}
	}
	return append([]string{"kubectl", "get"}, get...), true
}

// text is a text in a file of a capture.
func text(t *testing.T, dir, name string, path ...string) string {
	v := any(tree(t, []byte(read(t, filepath.Join(dir, name+".json")))))
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	s, _ := v.(string)
	return s
}

func tree(t *testing.T, data []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Errorf("%v: %s", err, data)
	}
	return v
}

var (
	isTime   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`)
	timeName = regexp.MustCompile(`(At|Time|Date)$`)
)

// full is a file without its empty lists where the CLI printed nothing.
func full(printed, file map[string]any) map[string]any {
	if len(printed) == 0 {
		maps.DeleteFunc(file, func(_ string, v any) bool { list, is := v.([]any); return is && len(list) == 0 })
	}
	return file
}

// plain has times in one form. kubectl's list has no version of its own in some releases.
func plain(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			out[k] = plain(k, item)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(key, item))
		}
		return out
	case string:
		if isTime.MatchString(v) {
			for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999-07:00"} {
				if at, err := time.Parse(layout, v); err == nil {
					return at.UTC().Format(time.RFC3339Nano)
				}
			}
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && timeName.MatchString(key) && f > 1e9 {
			return time.UnixMicro(int64(f * 1e6)).UTC().Format(time.RFC3339Nano)
		}
		if f, err := v.Float64(); err == nil {
			return fmt.Sprint(f) // 1 and 1.0
		}
	}
	return v
}

// cli runs the AWS CLI and kubectl on a stage.
type cli struct {
	env        []string
	kubeconfig string
}

func newCLI(t *testing.T, env map[string]string) *cli {
	home := t.TempDir()
	c := &cli{env: append(os.Environ(), "HOME="+home, "AWS_CONFIG_FILE="+filepath.Join(home, "aws")), kubeconfig: filepath.Join(home, "config")}
	for name, value := range env {
		c.env = append(c.env, name+"="+value)
	}
	if _, err := c.run([]string{"aws", "eks", "update-kubeconfig", "--name", "eks-workshop", "--kubeconfig", c.kubeconfig}); err != nil {
		t.Fatal(err)
	}
	return c
}

// prints is what a command prints as JSON.
func (c *cli) prints(args []string) (map[string]any, error) {
	command := append([]string{"aws", "--output", "json"}, args...)
	if args[0] == "kubectl" {
		command = append(args, "-o", "json", "--kubeconfig", c.kubeconfig)
	}
	out, err := c.run(command)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return map[string]any{}, nil // of a list whose pages hold nothing it prints nothing
	}
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	var v map[string]any
	return v, d.Decode(&v)
}

func (c *cli) run(command []string) ([]byte, error) {
	e := exec.Command(command[0], command[1:]...)
	e.Env = c.env
	var said bytes.Buffer
	e.Stderr = &said
	out, err := e.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, said.String())
	}
	return out, nil
}
