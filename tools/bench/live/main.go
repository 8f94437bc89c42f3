// Command live measures how long rollcall diagnose --cluster and rollcall capture take,
// and how many calls they make, for clusters of several sizes: the built command, with
// 40 ms on every call of AWS and Kubernetes, as from a desk in the region. Beside it
// another taker of captures can be measured.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/bench/bill"
	"rollcall/tools/bench/harness"
)

const usage = `Measures rollcall diagnose --cluster and rollcall capture with 40 ms a call, by the
size of the cluster, and writes the table of docs/diagnose.md. It fails if the cause is not
named first.

  go run ./tools/bench/live [-sizes 20,200,2000] [-rounds 3]

-script names a script that takes captures with the AWS CLI and kubectl, as those of
earlier releases did (git show dc030b3d^:command/capture.sh).
`

// clusterName is the world's cluster.
const clusterName = "eks-workshop"

// settled is when the broken nodes are past their join time.
const settled = 12 * time.Minute

func main() {
	sizes := flag.String("sizes", "20,200,2000", "nodes of the clusters")
	rounds := flag.Int("rounds", 3, "of each size; the median is printed")
	script := flag.String("script", "", "a script that takes captures, to be measured once for each size")
	at := flag.String("page", "docs/diagnose.md", "a page whose table is written anew, between two lines that say so; empty prints it")
	var list []int
	harness.Main(usage, func() bool { return json.Unmarshal([]byte("["+*sizes+"]"), &list) == nil && *rounds > 0 },
		func(ctx context.Context) error { return run(ctx, *script, *at, list, *rounds) })
}

func run(ctx context.Context, script, at string, sizes []int, rounds int) error {
	binary, err := harness.Rollcall(ctx)
	if err != nil {
		return err
	}
	var rows []measured
	for _, n := range sizes {
		m, err := measure(ctx, binary, script, n, rounds)
		if err != nil {
			return err
		}
		rows = append(rows, m)
		fmt.Fprintf(os.Stderr, "%+v\n", m)
	}
	text := table(rows)
	if at == "" {
		fmt.Print(text)
		return nil
	}
	return replace(at, text)
}

// measured is what one size came to.
type measured struct {
	nodes, broken int
	// diagnose is a look, capture the taking of a capture, script that by the script; it
	// is zero where that was not measured.
	diagnose, capture, script took
}

// took is what one way took.
type took struct {
	time            time.Duration
	aws, kubernetes int // calls
}

// measure looks at a cluster of n nodes, a tenth of which cannot join.
func measure(ctx context.Context, binary, script string, n, rounds int) (m measured, err error) {
	m.nodes, m.broken = n, max(1, n/10)
	s, err := stage.Start(ctx, stage.Options{
		World: world, Change: grow(n-m.broken, m.broken), Template: harness.Template, Quiet: true,
		At: start().Add(settled), CallFaults: []simaws.FaultRule{{Call: "*", Latency: harness.Latency}},
	})
	if err != nil {
		return m, fmt.Errorf("start the stage: %w", err)
	}
	defer s.Close()
	if m.diagnose, err = median(rounds, func() (took, error) {
		t, out, err := timed(ctx, s, binary, "diagnose", "--cluster", clusterName, "--at", s.Clock.Now().UTC().Format(time.RFC3339))
		if err == nil && !strings.HasPrefix(out, "FAULT eks-workshop / new_nodegroup_2 · rtb-0cd20000000000002") {
			err = fmt.Errorf("the cause is not named first:\n%s", out)
		}
		return t, err
	}); err != nil {
		return m, err
	}
	dir, err := os.MkdirTemp("", "rollcall-live-")
	if err != nil {
		return m, fmt.Errorf("make a folder for captures: %w", err)
	}
	defer os.RemoveAll(dir)
	takes := 0
	take := func(program string, args ...string) (took, error) {
		takes++
		t, _, err := timed(ctx, s, program, append(args, "--cluster", clusterName, "--instances", consoles, "--out", filepath.Join(dir, fmt.Sprint(takes)))...)
		return t, err
	}
	if m.capture, err = median(rounds, func() (took, error) { return take(binary, "capture") }); err != nil {
		return m, err
	}
	if script != "" {
		if m.script, err = take("sh", script); err != nil {
			return m, err
		}
	}
	return m, nil
}

// consoles are how many instances' consoles and user data are taken: as many as the
// script takes by default.
const consoles = "10"

// median does something several times.
func median(rounds int, do func() (took, error)) (took, error) {
	var all []took
	for range rounds {
		t, err := do()
		if err != nil {
			return t, err
		}
		all = append(all, t)
		// EC2's buckets are full again by then (100 at most, 20 a second).
		time.Sleep(5 * time.Second)
	}
	slices.SortFunc(all, func(a, b took) int { return cmp.Compare(a.time, b.time) })
	return all[len(all)/2], nil
}

// timed runs a program as a person does who may all, and counts its calls.
func timed(ctx context.Context, s *stage.Stage, program string, args ...string) (took, string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH"), "AWS_EC2_METADATA_DISABLED=true"}
	for k, v := range s.AdminEnv() {
		c.Env = append(c.Env, k+"="+v)
	}
	c.Stderr = os.Stderr
	before, began := len(s.Cloud.Calls()), time.Now()
	out, err := c.Output()
	t := took{time: time.Since(began)}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return t, "", fmt.Errorf("run %s: %w\n%s", program, err, out)
	}
	for _, c := range s.Cloud.Calls()[before:] {
		if c.Service == "kubernetes" {
			t.kubernetes++
		} else {
			t.aws++
		}
	}
	return t, string(out), nil
}

// world is the story of a blackhole, to be grown.
const world = "stage/worlds/route-blackhole.yaml"

const (
	vpc = "vpc-0a1b2c3d4e5f60718"
	// perSubnet is how many nodes stand in a subnet of the added ones: each is a /18
	// of the VPC's secondary blocks, and a node takes up to thirty addresses of it.
	perSubnet = 400
)

// start is when the world begins.
func start() time.Time { return time.Date(2026, 11, 20, 14, 58, 0, 0, time.UTC) }

// grow adds nodes that have joined to the group that is well, and lets the other group
// launch so many that cannot.
func grow(joined, broken int) func(*worldfile.File) {
	return func(f *worldfile.File) {
		k := f.Kubernetes[clusterName]
		group := &f.AutoScaling.AutoScalingGroups[0]
		have := len(k.Joined)
		for i := range max(0, joined-have) {
			subnet := subnetID(i / perSubnet)
			if i%perSubnet == 0 {
				f.EC2.Subnets = append(f.EC2.Subnets, types.Subnet{
					SubnetId: aws.String(subnet), VpcId: aws.String(vpc), AvailabilityZone: aws.String("us-west-2a"), AvailabilityZoneId: aws.String("usw2-az1"),
					CidrBlock: aws.String(fmt.Sprintf("100.%d.0.0/16", 64+i/perSubnet)),
				})
				group.VPCZoneIdentifier = aws.String(*group.VPCZoneIdentifier + "," + subnet)
			}
			in := f.EC2.Instances[0]
			in.InstanceId, in.SubnetId = aws.String(fmt.Sprintf("i-0e%015x", i)), aws.String(subnet)
			in.PrivateIpAddress = aws.String(fmt.Sprintf("100.%d.%d.%d", 64+i/perSubnet, 1+i%perSubnet/200, 10+i%200))
			f.EC2.Instances = append(f.EC2.Instances, in)
			group.Instances = append(group.Instances, asgtypes.Instance{InstanceId: in.InstanceId})
			k.Joined = append(k.Joined, *in.InstanceId)
		}
		n := int32(len(group.Instances))
		group.DesiredCapacity, group.MaxSize = aws.Int32(n), aws.Int32(n+10)
		f.Kubernetes[clusterName] = k
		f.Timeline[0].With["scalingConfig"] = map[string]any{"minSize": 0, "maxSize": broken, "desiredSize": broken}
	}
}

func subnetID(i int) string { return fmt.Sprintf("subnet-0e7%014x", i) }

// The lines of a page between which the table stands.
const (
	begin = "<!-- written by go run ./tools/bench/live -->\n"
	end   = "<!-- end of go run ./tools/bench/live -->\n"
)

// table is what was measured, as Markdown.
func table(rows []measured) string {
	var b strings.Builder
	b.WriteString("| nodes | of which not joined | `diagnose --cluster`, seconds | AWS calls | Kubernetes calls | `capture`, seconds | calls | previous capture script, seconds | calls |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, m := range rows {
		script, calls := "—", "—"
		if m.script.time > 0 {
			script, calls = fmt.Sprintf("%.0f", m.script.time.Seconds()), fmt.Sprint(m.script.aws+m.script.kubernetes)
		}
		fmt.Fprintf(&b, "| %s | %d | %.1f | %d | %d | %.1f | %d | %s | %s |\n", bill.Number(float64(m.nodes)), m.broken, m.diagnose.time.Seconds(), m.diagnose.aws, m.diagnose.kubernetes,
			m.capture.time.Seconds(), m.capture.aws+m.capture.kubernetes, script, calls)
	}
	return b.String()
}

// replace writes a table into a page.
func replace(file, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines between which the table stands", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
