//go:build cli

package clitest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/queue"
	"rollcall/tools/binaries"
	"rollcall/tools/testfile"
)

// step is one command of the workshop and what a person would expect it to
// print on AWS.
type step struct {
	// say is the text before it on the page.
	say string
	// run is the command. <name> stands for what an earlier step learned.
	run string
	// want are expressions that must match what is printed, on any line; named
	// groups are learned. not must not match.
	want, not []string
	// fails is set where the exit status must not be 0.
	fails bool
	// await repeats the command until it prints what is wanted.
	await bool
	// stop ends the test if the step goes wrong: the rest needs it.
	stop bool
	// slack waits for Rollcall's message to say this, instead of a command.
	slack string
}

const (
	nodegroup = "--cluster-name eks-workshop --nodegroup-name new_nodegroup_2"
	tagged    = "--filters Name=tag:eks:nodegroup-name,Values=new_nodegroup_2 Name=instance-state-name,Values=pending,running"
	nodes     = "kubectl get nodes --selector=eks.amazonaws.com/nodegroup=new_nodegroup_2"
	routes    = "--query 'RouteTables[].{Id:RouteTableId,Routes:Routes[].[DestinationCidrBlock,GatewayId||NatGatewayId,State]}'"
	// kubectl without a kubeconfig, with a token made by hand.
	kubectl = "KUBECONFIG=/dev/null kubectl --insecure-skip-tls-verify --server $(aws eks describe-cluster --name eks-workshop --query cluster.endpoint --output text) "
	token   = "--token $(aws eks get-token --cluster-name "
	route   = "aws ec2 create-route --route-table-id <table> --destination-cidr-block 0.0.0.0/0 --nat-gateway-id <nat>"
)

// workshop is the whole session.
var workshop = []step{
	{
		say:  "## Before\n\nWho am I, and what is here?",
		run:  "aws sts get-caller-identity",
		want: []string{`"Account": "111122223333"`, `"Arn": "arn:aws:iam::111122223333:user/admin"`, `"UserId": "AID\w{10,}"`},
	},
	{
		run:  "aws eks list-clusters",
		want: []string{`^        "eks-workshop"$`},
	},
	{
		run:  "aws eks update-kubeconfig --name eks-workshop",
		want: []string{`^Added new context arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop to /\S+/\.kube/config$`},
		stop: true,
	},
	{
		run:  "kubectl get nodes",
		want: []string{`^NAME +STATUS +ROLES +AGE +VERSION$`, `^ip-10-42-101-17\.us-west-2\.compute\.internal +Ready +<none> +\S+ +v1\.34\.\d+-eks-\w+$`, `^(ip-10-42\S+ +Ready .*\n){3}`},
	},
	{
		say:  "The new nodegroup gets its first instance.",
		run:  "aws eks update-nodegroup-config " + nodegroup + " --scaling-config minSize=0,maxSize=1,desiredSize=1 --query 'update.[type,status,params[].[type,value]]'",
		want: []string{`"ConfigUpdate"`, `"InProgress"`, `"DesiredSize"`},
		stop: true,
	},
	{
		say:  "AWS reports no problem: the nodegroup is `ACTIVE` without a health issue,",
		run:  "aws eks describe-nodegroup " + nodegroup + " --query 'nodegroup.{status:status,capacity:capacityType,scaling:scalingConfig,subnets:subnets,health:health,group:resources.autoScalingGroups[0].name}'",
		want: []string{`"status": "ACTIVE"`, `"capacity": "ON_DEMAND"`, `"minSize": 0,\n +"maxSize": 1,\n +"desiredSize": 1`, `"(?P<subnet>subnet-0c\w+)"`, `"issues": \[\]`, `"group": "(?P<group>eks-new_nodegroup_2-[\w-]+)"`},
		stop: true, await: true,
	},
	{
		say:   "the scaling activity `Successful`,",
		run:   "aws autoscaling describe-scaling-activities --auto-scaling-group-name <group> --query 'Activities[].[StatusCode,Description,Cause]'",
		want:  []string{`"Successful"`, `"Launching a new EC2 instance: i-\w{17}"`, `"At 2026-11-20T\S+Z a user request .*from 0 to 1`},
		await: true,
	},
	{
		say:   "the instance `running`",
		run:   "aws ec2 describe-instances " + tagged + " --query 'Reservations[].Instances[].[InstanceId,State.Name,InstanceType,SubnetId,PrivateIpAddress]'",
		want:  []string{`"(?P<old>i-\w{17})"`, `"running"`, `"m5.large"`, `"<subnet>"`, `"10\.42\.\d+\.\d+"`},
		await: true,
		stop:  true,
	},
	{
		say:  "and there is no node.",
		run:  nodes,
		want: []string{`\ANo resources found\n\z`},
	},
	{
		say:  "The subnet has addresses,",
		run:  "aws ec2 describe-subnets --subnet-ids <subnet> --query 'Subnets[].[SubnetId,AvailabilityZone,CidrBlock,AvailableIpAddressCount,State]' --output text",
		want: []string{`\A<subnet>\tus-west-2a\t10\.42\.192\.0/19\t81\d\d\tavailable\n\z`},
	},
	{
		say:  "but its route table has only the local route,",
		run:  "aws ec2 describe-route-tables --filters Name=association.subnet-id,Values=<subnet> " + routes,
		want: []string{`"Id": "(?P<table>rtb-0cd\w+)"`, `"10.42.0.0/16",\n +"local",\n +"active"`},
		not:  []string{`0\.0\.0\.0/0`},
		stop: true,
	},
	{
		say:  "and the VPC has no endpoints, only a NAT gateway in another subnet.",
		run:  "aws ec2 describe-vpc-endpoints --filters Name=vpc-id,Values=vpc-0a1b2c3d4e5f60718",
		want: []string{`"VpcEndpoints": \[\]`},
	},
	{
		run:  "aws ec2 describe-nat-gateways --filter Name=state,Values=available --query 'NatGateways[].[NatGatewayId,State,SubnetId,NatGatewayAddresses[0].PublicIp]' --output text",
		want: []string{`\A(?P<nat>nat-\w+)\tavailable\tsubnet-0a10000000000000a\t203\.0\.113\.25\n\z`},
		stop: true,
	},
	{
		say:   "What Rollcall says in Slack meanwhile:",
		slack: "no route to the internet",
	},
	{
		say:  "## The fix\n\nThe route is added.",
		run:  route,
		want: []string{`"Return": true`},
		stop: true,
	},
	{
		run:  "aws ec2 describe-route-tables --route-table-ids <table> " + routes,
		want: []string{`"Id": "<table>"`, `"local",\n +"active"`, `"0.0.0.0/0",\n +"<nat>",\n +"active"`},
	},
	{
		say:   "A second route for the same destination is refused.",
		run:   "aws ec2 create-route --route-table-id <table> --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0d40000000000000e",
		want:  []string{`An error occurred \(RouteAlreadyExists\) when calling the CreateRoute operation: The route identified by 0\.0\.0\.0/0 already exists\.$`},
		fails: true,
	},
	{
		say:   "The instance does not try again by itself, so it is replaced: down to 0, and up to 1.",
		run:   "aws eks update-nodegroup-config " + nodegroup + " --scaling-config desiredSize=0 --query update.id --output text",
		want:  []string{`\A(?P<update>[0-9a-f]{8}-[0-9a-f-]{27})\n\z`},
		await: true,
	},
	{
		run:   "aws eks describe-update --name eks-workshop --nodegroup-name new_nodegroup_2 --update-id <update> --query update.status",
		want:  []string{`"Successful"`},
		await: true,
	},
	{
		run:   "aws ec2 describe-instances --instance-ids <old> --query 'Reservations[].Instances[].[InstanceId,State.Name]' --output text",
		want:  []string{`^<old>\tterminated$`},
		await: true,
	},
	{
		run:   "aws eks update-nodegroup-config " + nodegroup + " --scaling-config desiredSize=1 --query update.status",
		want:  []string{`"InProgress"`},
		await: true,
	},
	{
		say:   "## After",
		run:   nodes,
		want:  []string{`^(?P<node>ip-10-42-\d+-\d+\.us-west-2\.compute\.internal) +Ready +<none> +\w+ +v1\.34\.\d+-eks-\w+$`},
		not:   []string{`\n.*\n.*\n`, `NotReady`},
		await: true,
	},
	{
		run:  "aws ec2 describe-instances " + tagged + " --query 'Reservations[].Instances[].[InstanceId,State.Name,PrivateDnsName]' --output text",
		want: []string{`\A(?P<new>i-\w{17})\trunning\t<node>\n\z`},
		not:  []string{`<old>`},
	},
	{
		run:  "kubectl get node <node> -o jsonpath='{.spec.providerID}{\"\\n\"}'",
		want: []string{`\Aaws:///us-west-2a/<new>\n\z`},
	},
	{
		say:   "And the same message in Slack:",
		slack: "fixed after",
	},
	{
		say:   "## What is refused\n\nMore than the nodegroup's maximum:",
		run:   "aws eks update-nodegroup-config " + nodegroup + " --scaling-config desiredSize=2",
		want:  []string{`An error occurred \(InvalidParameterException\) when calling the UpdateNodegroupConfig operation: .*[dD]esired capacity 2 can't be greater than max size 1`},
		fails: true,
	},
	{
		say:   "What does not exist:",
		run:   "aws eks describe-nodegroup --cluster-name eks-workshop --nodegroup-name new_nodegroup_3",
		want:  []string{`An error occurred \(ResourceNotFoundException\) when calling the DescribeNodegroup operation: No node group found for name: new_nodegroup_3\.$`},
		fails: true,
	},
	{
		run:   "aws eks describe-cluster --name eks-workshops",
		want:  []string{`An error occurred \(ResourceNotFoundException\) when calling the DescribeCluster operation: No cluster found for name: eks-workshops\.$`},
		fails: true,
	},
	{
		run:   "aws ec2 describe-route-tables --route-table-ids rtb-0123456789abcdef0",
		want:  []string{`An error occurred \(InvalidRouteTableID\.NotFound\) when calling the DescribeRouteTables operation: The routeTable ID 'rtb-0123456789abcdef0' does not exist$`},
		fails: true,
	},
	{
		say:  "kubectl's token comes from the CLI, and is a request to STS signed for this cluster alone:",
		run:  "aws eks get-token --cluster-name eks-workshop | grep -o 'client.authentication[^\"]*\\|k8s-aws-v1.\\{16\\}'",
		want: []string{`^client\.authentication\.k8s\.io/v1(beta1|alpha1)?$`, `^k8s-aws-v1\.\w{15,}$`},
	},
	{
		run:  kubectl + token + "eks-workshop | grep -o 'k8s-aws-v1[^\"]*') get --raw /version | grep -o '\"gitVersion\":\"[^\"]*\"'",
		want: []string{`\A"gitVersion":"v1\.34\.\d+`},
	},
	{
		say:   "A token for another cluster is rejected:",
		run:   kubectl + token + "another | grep -o 'k8s-aws-v1[^\"]*') get nodes",
		want:  []string{`^error: You must be logged in to the server \(.*Unauthorized.*\)$`},
		fails: true,
	},
	{
		say:   "And who may not use AWS may not use the cluster:",
		run:   "AWS_SECRET_ACCESS_KEY=wrong kubectl get nodes",
		want:  []string{`^error: You must be logged in to the server \(.*Unauthorized.*\)$`},
		fails: true,
	},
}

// TestObjects: the AWS CLI makes, finds and fetches objects in the stage's bucket as in
// S3, with the same errors where one is there already, or is not.
func TestObjects(t *testing.T) {
	s, err := stage.Start(t.Context(), stage.Options{World: "../../stage/worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Rate: rate, Quiet: true})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	defer s.Close()
	dir, bucket := t.TempDir(), s.Template.S3Buckets[0].Name
	body := filepath.Join(dir, "body")
	testfile.Write(t, body, []byte("packed"))
	for _, step := range []struct{ command, says string }{
		{"s3api head-bucket --bucket " + bucket, ""},
		{"s3api put-object --bucket " + bucket + " --key a/b.tar.gz --if-none-match * --server-side-encryption AES256 --body " + body, `"ServerSideEncryption": "AES256"`},
		{"s3api put-object --bucket " + bucket + " --key a/b.tar.gz --if-none-match * --body " + body, "(PreconditionFailed)"},
		{"s3api list-objects-v2 --bucket " + bucket + " --prefix a/ --query Contents[].Key", `"a/b.tar.gz"`},
		{"s3api get-object --bucket " + bucket + " --key a/b.tar.gz " + filepath.Join(dir, "got"), `"ContentLength": 6`},
		{"s3 cp s3://" + bucket + "/a/b.tar.gz " + filepath.Join(dir, "copy"), "download: s3://"},
		{"s3api get-object --bucket " + bucket + " --key none " + filepath.Join(dir, "none"), "(NoSuchKey)"},
		{"s3api head-object --bucket " + bucket + " --key none", "(404)"},
		{"s3api head-bucket --bucket another", "(404)"},
	} {
		c := exec.CommandContext(t.Context(), "aws", strings.Fields(step.command)...)
		for k, v := range s.AdminEnv() {
			c.Env = append(c.Env, k+"="+v)
		}
		c.Env = append(c.Env, "PATH="+os.Getenv("PATH"), "HOME="+dir, "AWS_EC2_METADATA_DISABLED=true")
		out, _ := c.CombinedOutput()
		if !strings.Contains(string(out), step.says) {
			t.Errorf("aws %s: %s, want %q", step.command, out, step.says)
		}
	}
	for _, name := range []string{"got", "copy"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != "packed" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestRedrive runs make redrive, as the README says, against a stage: it finds the
// account and the queues by the environment alone, shows before it moves, and moves
// with MOVE set. What comes of what it moves is played in stage.
func TestRedrive(t *testing.T) {
	s, err := stage.Start(t.Context(), stage.Options{World: "../../stage/worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Rate: rate, Quiet: true})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	defer s.Close()
	depth := func() map[string]int {
		all := map[string]int{}
		for _, q := range s.Template.Queues {
			d, err := s.Queues.Depth(q.ARN)
			if err != nil {
				t.Fatal(err)
			}
			if n := d.Visible + d.Delayed; n > 0 { // joins has a delay
				all[q.Name] = n
			}
		}
		return all
	}
	for name, bodies := range map[string][]string{"rollcall-results-dead.fifo": {"a press", "a run"}, "rollcall-joins-dead": {"an outcome"}, "rollcall-failed": {"an event"}} {
		for _, q := range s.Template.Queues {
			for i, body := range bodies {
				if q.Name != name {
					continue
				}
				m := queue.Outgoing{Body: body}
				if q.FIFO {
					m.Group, m.Dedup = "eks-workshop", string(rune('a'+i))
				}
				if _, err := s.Queues.Send(q.ARN, m); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	dead := map[string]int{"rollcall-results-dead.fifo": 2, "rollcall-joins-dead": 1, "rollcall-failed": 1}
	const failed = "rollcall-failed: 1, stay: they are events that reached no queue, and SQS moves only what a queue gave up; what they were about is found by the next sweep, and an approval among them runs out and can be asked for again"
	for _, run := range []struct {
		words []string
		says  []string
		then  map[string]int
	}{
		{nil, []string{
			failed, "rollcall-joins-dead: 1, would go back to rollcall-joins", "rollcall-results-dead.fifo: 2, would go back to rollcall-results.fifo",
			"Nothing was moved. Mend first why they were given up, then: make redrive MOVE=1",
		}, dead},
		{[]string{"PREFIX=another", "MOVE=1"}, []string{"the dead-letter queues of another are empty"}, dead},
		{[]string{"MOVE=1"}, []string{
			failed, "rollcall-joins-dead: 1 of about 1 went back to rollcall-joins", "rollcall-results-dead.fifo: 2 of about 2 went back to rollcall-results.fifo",
		}, map[string]int{"rollcall-failed": 1, "rollcall-joins": 1, "rollcall-results.fifo": 2}},
	} {
		make := exec.CommandContext(t.Context(), "make", append([]string{"-C", "../..", "--no-print-directory", "redrive"}, run.words...)...)
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "AWS_") && !strings.HasPrefix(v, "MAKE") {
				make.Env = append(make.Env, v)
			}
		}
		for k, v := range s.AdminEnv() {
			make.Env = append(make.Env, k+"="+v)
		}
		none := t.TempDir() + "/none" // a file without profiles
		make.Env = append(make.Env, "AWS_CONFIG_FILE="+none, "AWS_SHARED_CREDENTIALS_FILE="+none)
		out, err := make.Output()
		if err != nil {
			t.Fatalf("make redrive %v: %v", run.words, err)
		}
		if diff := cmp.Diff(run.says, strings.Split(strings.TrimSpace(string(out)), "\n")); diff != "" {
			t.Errorf("make redrive %v (-want +said):\n%s", run.words, diff)
		}
		if diff := cmp.Diff(run.then, depth()); diff != "" {
			t.Errorf("make redrive %v, messages by queue (-want +got):\n%s", run.words, diff)
		}
	}
}

// shell runs a person's commands in an environment of its own: nothing of
// the home folder, of a profile or of a kubeconfig is read or written.
type shell struct {
	folder string
	env    []string
}

// home stands for the shell's folder in what is printed.
const home = "/home/oncall"

// commandTime is how long one command may take. The AWS CLI is Python and
// takes seconds to start on a busy machine.
const commandTime = 60 * time.Second

// newShell makes a shell in which "aws" is the CLI at the path, pointed at
// the endpoint in admin. The endpoint is passed as an option, as only newer
// CLIs (2.13, 1.29) read AWS_ENDPOINT_URL.
func newShell(t *testing.T, cli string, admin map[string]string) *shell {
	t.Helper()
	s := &shell{folder: t.TempDir()}
	bin := filepath.Join(s.folder, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' --endpoint-url '%s' \"$@\"\n", cli, admin["AWS_ENDPOINT_URL"])
	if err := os.WriteFile(filepath.Join(bin, "aws"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	env := maps.Clone(admin)
	maps.Copy(env, map[string]string{
		"PATH":                        bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME":                        s.folder,
		"AWS_CONFIG_FILE":             filepath.Join(s.folder, "aws-config"),
		"AWS_SHARED_CREDENTIALS_FILE": filepath.Join(s.folder, "aws-credentials"),
		"KUBECONFIG":                  filepath.Join(s.folder, ".kube", "config"),
		"LC_ALL":                      "C.UTF-8",
		"TZ":                          "UTC",
	})
	for _, name := range slices.Sorted(maps.Keys(env)) {
		s.env = append(s.env, name+"="+env[name])
	}
	return s
}

// run gives what the command prints, on both streams as in a terminal, and
// its exit status.
func (s *shell) run(ctx context.Context, command string) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir, c.Env, c.WaitDelay = s.folder, s.env, time.Second
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	text := strings.ReplaceAll(string(out), s.folder, home)
	if errors.As(err, &exit) && ctx.Err() == nil {
		return text, exit.ExitCode(), nil
	}
	if err != nil {
		return text, 0, fmt.Errorf("%s: %w", command, err)
	}
	return text, 0, nil
}

// tool is a CLI found on this machine.
type tool struct{ path, version string }

// commandLines are the different AWS CLIs on the PATH. None is an error.
func commandLines(ctx context.Context) ([]tool, error) {
	var found []tool
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(folder, "aws")
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s --version: %w: %s", path, err, out)
		}
		version, _, _ := strings.Cut(string(out), " ")
		if !slices.ContainsFunc(found, func(t tool) bool { return t.version == version }) {
			found = append(found, tool{path, version})
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no AWS CLI on the PATH: install it (Debian: apt-get install awscli)")
	}
	return found, nil
}

var update = flag.Bool("update", false, "write docs/workshop.md anew")

// page is the transcript, from this folder.
const page = "../../docs/workshop.md"

// rate is how much faster than the wall the stage runs.
const rate = 20

// TestWorkshop plays the workshop with each AWS CLI on this machine. The page
// is written by the first of them on the PATH, and must fit what each prints.
func TestWorkshop(t *testing.T) {
	tools, err := commandLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Fatalf("no kubectl on the PATH: install it (Debian: apt-get install kubernetes-client): %v", err)
	}
	for i, cli := range tools {
		t.Run(strings.ReplaceAll(cli.version, "/", " "), func(t *testing.T) {
			got := render(play(t, cli))
			if *update && i == 0 {
				if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
					t.Fatal(err)
				}
				testfile.Write(t, page, []byte(got))
			}
			want, err := os.ReadFile(page)
			if err != nil {
				t.Fatalf("%v; write it with: go test -tags cli ./tools/clitest -update", err)
			}
			if d := difference(got, string(want)); d != "" {
				t.Errorf("docs/workshop.md is not what %s prints now (got -, want +); with -update it is written anew:\n%s", cli.version, d)
			}
		})
	}
}

// play runs all commands of the workshop on a fresh stage.
func play(t *testing.T, cli tool) []entry {
	built, err := binaries.Build("../..")
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.Start(t.Context(), stage.Options{
		World: "../../stage/worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Binaries: built, Rate: rate,
	})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	defer s.Close()
	sh := newShell(t, cli.path, s.AdminEnv())
	known := map[string]string{}
	var entries []entry
	for _, st := range workshop {
		if st.slack != "" {
			e := entry{say: st.say, output: awaitSlack(t, s, st.slack)}
			t.Logf("Slack: %s", e.output)
			entries = append(entries, e)
			continue
		}
		command := fill(st.run, known)
		began := time.Now()
		output, ok := try(t, sh, st, command, known)
		t.Logf("%5.1f s  $ %s\n%s", time.Since(began).Seconds(), command, output)
		if !ok {
			if st.stop {
				t.FailNow()
			}
			continue
		}
		entries = append(entries, entry{say: st.say, command: command, output: output})
	}
	return entries
}

// awaitTimeout is how long something that is awaited may take, on the wall.
const awaitTimeout = 60 * time.Second

// try runs a command until it prints what is wanted: once, or where something
// is awaited until its time is up.
func try(t *testing.T, sh *shell, st step, command string, known map[string]string) (string, bool) {
	t.Helper()
	for deadline := time.Now().Add(awaitTimeout); ; {
		output, status, err := sh.run(t.Context(), command)
		if err != nil {
			t.Error(err)
			return output, false
		}
		wrong := st.judge(output, status, known)
		if wrong == "" {
			return output, true
		}
		if !st.await || time.Now().After(deadline) {
			t.Errorf("$ %s\n%s\nexit status %d: %s", command, output, status, wrong)
			return output, false
		}
	}
}

// judge tells what is wrong with a command's output, and learns the names in
// it.
func (s step) judge(output string, status int, known map[string]string) string {
	if failed := status != 0; failed != s.fails {
		return fmt.Sprintf("got failed %t, want %t", failed, s.fails)
	}
	for _, want := range s.want {
		re := regexp.MustCompile("(?m)" + fill(want, known))
		m := re.FindStringSubmatch(output)
		if m == nil {
			return fmt.Sprintf("want a match of %q", re)
		}
		for i, name := range re.SubexpNames() {
			if name != "" {
				known[name] = m[i]
			}
		}
	}
	for _, not := range s.not {
		if re := regexp.MustCompile("(?m)" + fill(not, known)); re.MatchString(output) {
			return fmt.Sprintf("want no match of %q", re)
		}
	}
	return ""
}

// fill puts the known names into a text.
func fill(text string, known map[string]string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, "<"+name+">", value)
	}
	return text
}

// awaitSlack waits until Rollcall's message says something and gives its
// first line.
func awaitSlack(t *testing.T, s *stage.Stage, want string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), awaitTimeout)
	defer cancel()
	for {
		list := s.Slack.Messages(stage.Channel)
		if len(list) == 1 && strings.Contains(list[0].Text, want) {
			return list[0].Text + "\n"
		}
		select {
		case <-ctx.Done():
			t.Fatalf("Slack has %q, want one message with %q", texts(list), want)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func texts(list []fakeslack.Message) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.Text)
	}
	return out
}
