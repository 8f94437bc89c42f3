package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/checkid"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/router"
	"rollcall/stage/platform/wire"
	"rollcall/stage/programs"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/binaries"
	"rollcall/tools/messagecheck"
	"rollcall/tools/testfull"
)

// TestAliases: the hub has no alias, one account has a name in the settings, one an alias,
// and one does not let its alias be read. Each is called by the best name that there is. Whoever
// has one is asked once, whichever of the function's processes has the tick; who refuses once
// an hour, as has no alias, and no message mentions it.
func TestAliases(t *testing.T) {
	refusing := spoke.ID{Account: "444455556666", Region: "us-west-2"}
	const asks = "iam:ListAccountAliases"
	alias := func(name string) func(*worldfile.File) {
		return func(f *worldfile.File) { f.IAM.AccountAliases = []string{name} }
	}
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil), func(o *Options) {
			o.Spokes = []Spoke{
				{ID: payments, World: o.World, Change: alias("acme-pay")},
				{ID: search, World: o.World, Change: alias("acme-search")},
				{ID: refusing, World: o.World, Change: alias("acme-secret"), Faults: []simaws.FaultRule{{Call: asks, Deny: true}}},
			}
			o.Settings["ROLLCALL_SPOKES"] = payments.String() + "=payments," + search.String() + "," + refusing.String()
		})
		r.pass(6 * time.Minute)
		r.scale(1, 1)
		whose := map[spoke.ID]string{payments: "payments", search: "acme-search", refusing: refusing.Account}
		for id := range whose {
			if _, err := r.SpokeWorld(id).API().UpdateNodegroupConfig(&eks.UpdateNodegroupConfigInput{
				ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"),
				ScalingConfig: &types.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(1), DesiredSize: aws.Int32(1)},
			}); err != nil {
				t.Fatal(err)
			}
		}
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", table))
		for id, name := range whose {
			r.until("the message of "+name, r.posted("eks-workshop ("+name+")", table))
			list, err := r.memory().ForSpoke(id).Incidents(t.Context(), "eks-workshop")
			if err != nil || len(list) != 1 || list[0].Account != id.Account || list[0].Key.Spoke != id || strings.Contains(list[0].Key.Name(), "acme") {
				t.Errorf("%s has the incidents %+v, %v", name, list, err)
			}
		}
		r.pass(time.Hour)
		if n := len(r.messages()); n != 4 {
			t.Errorf("%d messages, want one for each account", n)
		}
		codes := func(calls []wire.Call) (list []string) {
			for _, c := range calls {
				if c.Action() == asks {
					list = append(list, c.Caller+" "+c.Code)
				}
			}
			return list
		}
		for name, x := range map[string]struct{ got, want []string }{
			"the hub":         {codes(r.Cloud.Calls()), []string{"rollcall-sweep ", "rollcall-sweep "}},
			"payments":        {codes(r.SpokeCalls(payments)), nil},
			"search":          {codes(r.SpokeCalls(search)), []string{"rollcall-sweep "}},
			"the one refused": {codes(r.SpokeCalls(refusing)), []string{"rollcall-sweep AccessDenied", "rollcall-sweep AccessDenied"}},
		} {
			if !slices.Equal(x.got, x.want) {
				t.Errorf("%s was asked by %q, want %q", name, x.got, x.want)
			}
		}
		if strings.Contains(r.out.String(), "IAM does not allow a call") {
			t.Error("a role lacks a permission that its function uses")
		}
		r.nothingLost()
	})
}

// changing is a stage on which an instance of the route world cannot join, and
// CloudTrail has what was done before only after a time.
func changing(t *testing.T, behind time.Duration, faults ...simaws.FaultRule) *running {
	t.Helper()
	r := start(t, "route", func(o *Options) {
		o.CallFaults = faults
		o.Change = func(f *worldfile.File) { f.Trail.Lag, f.Trail.Spread = behind, 0 }
	})
	r.scale(1, 1)
	return r
}

// lookups counts the answers that change-check had from CloudTrail, by their
// error code.
func (r *running) lookups() map[string]int {
	codes := map[string]int{}
	for _, c := range r.Cloud.Calls() {
		if c.Service == "cloudtrail" && c.Principal.Name == "rollcall-change-check" {
			codes[c.Code]++
		}
	}
	return codes
}

// head is the message without its thread.
func (r *running) head() string {
	m := r.messages()
	if len(m) != 1 {
		return ""
	}
	m[0].Replies = nil
	return whole(m[0])
}

// changes are the replies about what was changed.
func (r *running) changes() (list []string) {
	for _, m := range r.messages() {
		for _, reply := range m.Replies {
			if text := whole(fakeslack.Message{Text: reply.Text, Blocks: reply.Blocks}); strings.Contains(text, "changes to these resources ") {
				list = append(list, text)
			}
		}
	}
	return list
}

// recentChanges is what the incident knows of CloudTrail.
func (r *running) recentChanges() *report.RecentChanges {
	if i := r.incidents(); len(i) == 1 {
		return i[0].RecentChanges
	}
	return nil
}

// TestWhatChangedIsSaid holds that the message says who changed what it is
// about, and when, and the thread all of it; and that CloudTrail, which has
// nothing at first, is asked again until it has.
func TestWhatChangedIsSaid(t *testing.T) { virtual(t, whatChangedIsSaid) }

func whatChangedIsSaid(t *testing.T) {
	r := changing(t, 26*time.Minute) // the table was made 18 minutes before the launch
	r.until("CloudTrail is asked", func() bool { return r.recentChanges() != nil })
	if first := r.recentChanges(); !first.Open || len(first.Changes) > 0 || len(r.changes()) > 0 || strings.Contains(r.head(), "ci-deploy") {
		t.Errorf("before CloudTrail has anything: %+v, said is %q", first, r.changes())
	}
	r.until("the message says what changed", func() bool { return strings.Contains(r.head(), "ci-deploy") })
	r.until("CloudTrail is not asked any more", func() bool { return !r.recentChanges().Open })
	r.until("the thread has all of it", func() bool { return len(r.changes()) == 2 })
	made := time.Date(2026, 11, 20, 14, 41, 9, 0, time.UTC)
	for _, want := range []string{`"Changed"`, fmt.Sprint(made.Unix()), "platform/ci-deploy associated", table, "(AssociateRouteTable)", "through cloudformation", "; more in the thread"} {
		if !strings.Contains(r.head(), want) {
			t.Errorf("the message does not say %q:\n%s", want, r.head())
		}
	}
	// Eve's call came later, and was refused: it is why of nothing.
	early, all := r.changes()[0], r.changes()[1]
	for _, want := range []string{"platform/ci-deploy created", "(CreateSubnet)", "(CreateRouteTable)", "(AssociateRouteTable)"} {
		if !strings.Contains(early, want) || !strings.Contains(all, want) {
			t.Errorf("the thread does not say %q:\n%s\n%s", want, early, all)
		}
	}
	for _, late := range []string{"eve tried CreateRoute", "UnauthorizedOperation"} {
		if strings.Contains(early, late) || !strings.Contains(all, late) || strings.Contains(r.head(), late) {
			t.Errorf("%q is not where it belongs:\n%s\n%s", late, early, all)
		}
	}
	if text := r.head() + early + all; strings.Contains(text, "rtb-0b200000000000abc") {
		t.Errorf("another table is listed:\n%s", text)
	}
	r.nothingLost()
}

// TestDeniedCloudTrailIsNamed holds that the thread says at once which
// permission is missing, and nothing sounds as if there were no changes.
func TestDeniedCloudTrailIsNamed(t *testing.T) { virtual(t, deniedCloudTrailIsNamed) }

func deniedCloudTrailIsNamed(t *testing.T) {
	r := changing(t, 0, simaws.FaultRule{Call: "cloudtrail:LookupEvents", Deny: true})
	r.until("the permission is named", func() bool {
		list := r.changes()
		return len(list) == 1 && strings.Contains(list[0], "cloudtrail:LookupEvents AccessDenied") && strings.Contains(list[0], "There may be more changes")
	})
	if now := r.Clock.Now(); now.After(r.incidents()[0].Opened.Add(4 * time.Minute)) {
		t.Errorf("it was said only at %s", now.Format(time.TimeOnly))
	}
	if text := r.head() + r.changes()[0]; strings.Contains(text, "None") || strings.Contains(text, `"Changed"`) {
		t.Errorf("it sounds as if it had been looked at:\n%s", text)
	}
	if codes := r.lookups(); codes["AccessDeniedException"] != 1 || len(codes) != 1 {
		t.Errorf("answers of CloudTrail by code: %v; want one, and no more of the same look", codes)
	}
	r.nothingLost()
}

// TestThrottledCloudTrailIsAskedLater holds that nothing is said of changes
// while CloudTrail asks to slow down, and that they are there later.
func TestThrottledCloudTrailIsAskedLater(t *testing.T) { virtual(t, throttledCloudTrailIsAskedLater) }

func throttledCloudTrailIsAskedLater(t *testing.T) {
	until := time.Date(2026, 11, 20, 15, 14, 0, 0, time.UTC)
	r := changing(t, 0, simaws.FaultRule{Call: "cloudtrail:LookupEvents", Throttle: 1, Until: until})
	r.until("CloudTrail is asked", func() bool { return r.lookups()["ThrottlingException"] > 0 })
	for r.Clock.Now().Before(until.Add(-time.Minute)) {
		if tr := r.recentChanges(); len(r.changes()) > 0 || tr != nil && !tr.Open {
			t.Fatalf("while it is throttled: %+v, said is %q", tr, r.changes())
		}
		r.pass(20 * time.Second)
	}
	r.until("the message says what changed", func() bool { return strings.Contains(r.head(), "ci-deploy") })
	r.until("the thread has it", func() bool { return len(r.changes()) == 1 })
	if tr := r.recentChanges(); tr.Blind != "" || strings.Contains(r.changes()[0], "throttled") {
		t.Errorf("at %s: %+v", r.Clock.Now().Format(time.TimeOnly), tr)
	}
	r.nothingLost()
}

const workshopVPC = "vpc-0a1b2c3d4e5f60718"

// leave makes an interface of three addresses that a node left behind.
func (r *running) leave(owner string, tags map[string]string) string {
	r.t.Helper()
	all := map[string]string{leak.TagInstance: owner, leak.TagCreated: r.Clock.Now().Add(-time.Hour).UTC().Format(time.RFC3339), leak.TagCluster: "eks-workshop"}
	for k, v := range tags {
		all[k] = v
	}
	spec := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeNetworkInterface}
	for k, v := range all {
		if v != "" {
			spec.Tags = append(spec.Tags, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
	}
	out, err := r.World.EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{
		SubnetId: aws.String("subnet-0b20000000000000b"), Description: aws.String("aws-K8S-" + owner),
		SecondaryPrivateIpAddressCount: aws.Int32(2), TagSpecifications: []ec2types.TagSpecification{spec},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

func (r *running) interfaceIsThere(id string) bool {
	_, err := r.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	return err == nil
}

// TestCleanupInTrouble: the real functions, opted in while they run, with
// EC2 and the table failing and events lost and doubled. Nothing is deleted
// that should not be; in the end all is, each once on record and told.
func TestCleanupInTrouble(t *testing.T) { virtual(t, cleanupInTrouble) }

func cleanupInTrouble(t *testing.T) {
	const many, dead = 40, "i-0dead00000000%04x"
	n := 0
	r := start(t, "ips", func(o *Options) {
		o.Settings = map[string]string{"ROLLCALL_CLEANUP_SHARE": "100"}
		o.CallFaults = []simaws.FaultRule{
			{Call: "ec2:*", Caller: "rollcall-eni-cleanup", Throttle: 0.2},
			{Call: "ec2:DeleteNetworkInterface", Fail: 0.1},
			{Call: "dynamodb:*", Caller: "rollcall-eni-cleanup", Fail: 0.05},
			{Call: "events:PutEvents", Caller: "rollcall-eni-cleanup", Deny: true, Times: 1},
		}
		o.EventFaults = func(router.Event) router.Fault {
			n++
			return router.Fault{Lose: n%5 == 1, Copies: n % 2}
		}
	})
	left, kept := map[string]bool{}, []string{"eni-0f100000000000001", "eni-0f200000000000002", "eni-0f300000000000003"}
	for i := range many {
		left[r.leave(fmt.Sprintf(dead, i/2), nil)] = true
	}
	for _, tags := range []map[string]string{{leak.TagCluster: "payments"}, {leak.TagCluster: ""}, {leak.TagCreated: "soon"}} {
		kept = append(kept, r.leave(fmt.Sprintf(dead, 0), tags))
	}
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now)
	sightings := func() map[string]leak.Sighting {
		list, err := table.Sightings(t.Context(), workshopVPC)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	r.until("they are seen", func() bool { return len(sightings()) >= many })
	for id := range left {
		if !r.interfaceIsThere(id) {
			t.Fatalf("%s is deleted in mode report", id)
		}
	}
	if err := r.Deploy(map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=delete"}); err != nil {
		t.Fatal(err)
	}
	r.until("all are deleted, and nothing is open", func() bool {
		for id := range left {
			if r.interfaceIsThere(id) {
				return false
			}
		}
		for _, x := range sightings() {
			if x.Deleting != nil {
				return false
			}
		}
		return true
	})
	for _, id := range kept {
		if !r.interfaceIsThere(id) {
			t.Errorf("%s is gone, and must not be", id)
		}
	}
	audits, err := table.Audits(t.Context(), "eks-workshop", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	records, told := map[string]int{}, map[string]bool{}
	for _, a := range audits {
		if a.Result == leak.Deleted {
			records[a.Interface]++
		}
	}
	for _, p := range r.Events() {
		var e struct {
			Type   string     `json:"detail-type"`
			Detail leak.Event `json:"detail"`
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == leak.DetailType {
			told[e.Detail.Interface] = true
		}
	}
	for id := range left {
		if records[id] != 1 || !told[id] {
			t.Errorf("%s: %d records, told: %v; want one, and told", id, records[id], told[id])
		}
	}
	if len(records) != many || len(told) != many {
		t.Errorf("%d records, %d told, want %d", len(records), len(told), many)
	}
	words := fmt.Sprintf("%d addresses back in subnet-0b20000000000000b; %d interfaces of %d terminated nodes", 3*many, many, many/2)
	r.until("Slack says what came back", func() bool {
		for _, m := range r.messages() {
			if strings.Contains(whole(m), words) {
				return true
			}
		}
		return false
	})
	// A sweep that failed is given up when the next is due, which does its work.
	r.nothingLost("rollcall-failed")
}

// TestWrongDeletesAreRefused: what a fault in eni-cleanup might ask for, IAM
// refuses, by the permissions of what is deployed.
func TestWrongDeletesAreRefused(t *testing.T) { virtual(t, wrongDeletesAreRefused) }

func wrongDeletesAreRefused(t *testing.T) {
	r := start(t, "ips", func(o *Options) { o.Quiet = true })
	f, ok := r.Function("eni-cleanup")
	if !ok {
		t.Fatal("no eni-cleanup")
	}
	client := ec2.NewFromConfig(r.AsFunction(f))
	const dead = "i-0dead000000000001"
	own := func() string { return r.leave(dead, nil) }
	untagged := func() string { return r.leave(dead, map[string]string{leak.TagCluster: ""}) }
	theirs := func() string { return r.leave(dead, map[string]string{leak.TagCluster: "payments"}) }
	foreign := func() string { return r.leave(dead, map[string]string{leak.TagInstance: ""}) }
	for _, test := range []struct {
		name, cleanup, optedIn string
		make                   func() string
		allowed                bool
	}{
		{"in mode report", "report", "none", own, false},
		{"another cluster opted in", "payments=delete", "none", own, false},
		{"of the cluster", "eks-workshop=delete", "none", own, true},
		{"of another cluster", "eks-workshop=delete", "none", theirs, false},
		{"without the CNI's tag", "eks-workshop=delete", "none", foreign, false},
		{"untagged", "eks-workshop=delete", "none", untagged, false},
		{"untagged, another VPC opted in", "eks-workshop=delete", "vpc-0ffffffffffffffff", untagged, false},
		{"untagged, opted in", "eks-workshop=delete", workshopVPC, untagged, true},
		{"of another cluster, untagged opted in", "eks-workshop=delete", workshopVPC, theirs, false},
		{"back in mode report", "report", "none", own, false},
	} {
		if err := r.Deploy(map[string]string{"ROLLCALL_CLEANUP": test.cleanup, "ROLLCALL_CLEANUP_UNTAGGED": test.optedIn}); err != nil {
			t.Fatal(err)
		}
		id := test.make()
		_, err := client.DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &id})
		var api smithy.APIError
		refused := errors.As(err, &api) && api.ErrorCode() == "UnauthorizedOperation"
		if test.allowed != (err == nil) || test.allowed == refused || r.interfaceIsThere(id) == test.allowed {
			t.Errorf("%s: %v, there: %v", test.name, err, r.interfaceIsThere(id))
		}
	}
}

// children are the processes that this one has started and that still run.
func children(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (command) state ppid …: the command may hold spaces.
		end := bytes.LastIndexByte(data, ')')
		fields := strings.Fields(string(data[end+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != "Z" {
			list = append(list, string(data[:end+1]))
		}
	}
	return list
}

// TestCloseLeavesNothing is not parallel: it counts processes.
//
// It has real programs: it counts processes and ports.
func TestCloseLeavesNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Logf("no /proc here: only the ports are looked at (%v)", err)
	}
	r := startReal(t, "route")
	r.scale(1, 1)
	r.until("the message at launch", r.hasMessage("will not be able to join"))
	addresses := []string{r.Slack.URL(), r.Cloud.Endpoint()}
	if endpoint, _, ok := r.Cloud.Kubernetes("eks-workshop"); ok {
		addresses = append(addresses, endpoint)
	}
	r.Close()
	if left := children(t); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := net.Dial("tcp", u.Host); err == nil {
			c.Close()
			t.Errorf("something still listens at %s", address)
		}
	}
}

// dashboardReads holds that each of the dashboard's queries of logs finds its lines, with
// the fields that it names, among what the functions logged.
func (r *running) dashboardReads(most int) {
	r.t.Helper()
	queries := r.dashboardQueries()
	if len(queries) != most {
		r.t.Errorf("the dashboard has %d queries of logs, want %d", len(queries), most)
	}
	argument, groups := regexp.MustCompile(`\(([a-z]\w*)\s*[,)]`), regexp.MustCompile(` by ([a-z, ]+?)( \||$)`)
	for _, text := range queries {
		m := regexp.MustCompile(`^((?:SOURCE '/aws/lambda/rollcall-[a-z-]+' \| )+)filter msg = "([^"]+)" \| `).FindStringSubmatch(text)
		if m == nil {
			r.t.Errorf("a query that is not understood: %s", text)
			continue
		}
		var fields []string
		for _, f := range argument.FindAllStringSubmatch(text, -1) {
			fields = append(fields, f[1])
		}
		if by := groups.FindStringSubmatch(text); by != nil {
			fields = append(fields, strings.Split(by[1], ", ")...)
		}
		if len(fields) == 0 || !r.hasLogged(regexp.MustCompile(`rollcall-([a-z-]+)`).FindAllStringSubmatch(m[1], -1), m[2], fields) {
			r.t.Errorf("%s no function logged a line %q with %q", m[1], m[2], fields)
		}
	}
}

// dashboardQueries are those of the template.
func (r *running) dashboardQueries() (list []string) {
	r.t.Helper()
	source, err := os.ReadFile("../infra/Rollcall.template.json")
	if err != nil {
		r.t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				DashboardBody struct {
					Join []json.RawMessage `json:"Fn::Join"`
				}
			}
		}
	}
	if err := json.Unmarshal(source, &template); err != nil {
		r.t.Fatal(err)
	}
	for _, x := range template.Resources {
		if x.Type != "AWS::CloudWatch::Dashboard" {
			continue
		}
		var parts []any
		if err := json.Unmarshal(x.Properties.DashboardBody.Join[1], &parts); err != nil {
			r.t.Fatal(err)
		}
		var body strings.Builder
		for _, p := range parts {
			text, ok := p.(string)
			if !ok {
				text = "x" // what CloudFormation fills in
			}
			body.WriteString(text)
		}
		var dashboard struct {
			Widgets []struct {
				Type       string
				Properties struct{ Query string }
			}
		}
		if err := json.Unmarshal([]byte(body.String()), &dashboard); err != nil {
			r.t.Fatal(err)
		}
		for _, w := range dashboard.Widgets {
			if w.Type == "log" {
				list = append(list, w.Properties.Query)
			}
		}
	}
	return list
}

// hasLogged reports whether one of the functions logged such a line.
func (r *running) hasLogged(functions [][]string, msg string, fields []string) bool {
	for line := range strings.Lines(r.out.String()) {
		// Before it stand the time and whose log group it is in.
		head, line, _ := strings.Cut(line, "{")
		in := func(f []string) bool { return strings.HasSuffix(head, " rollcall-"+f[1]+" ") }
		var values map[string]any
		if json.Unmarshal([]byte("{"+line), &values) != nil || values["msg"] != msg || !slices.ContainsFunc(functions, in) {
			continue
		}
		if !slices.ContainsFunc(fields, func(f string) bool { return values[f] == nil }) {
			return true
		}
	}
	return false
}

// built builds the functions as they are deployed, but for this machine.
var built = sync.OnceValues(func() (string, error) { return binaries.Build("..") })

// running is a stage under test. The test itself is work: the stage's time runs
// fast only in until and pass, so that a test misses nothing on a slow machine.
type running struct {
	*Stage
	t    *testing.T
	out  *logs
	rest func() // lets the time run
}

// logs keeps what the functions wrote.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// virtual runs a test in a time of its own, which passes at once while all goroutines wait.
func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// A bubble begins in the year 2000, whose Unix times have nine digits: Slack's
		// signatures have ten.
		time.Sleep(time.Until(time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)))
		test(t)
	})
}

// inBubble reports whether the time is virtual here: Wait panics where it is not.
func inBubble() (is bool) {
	defer func() { is = recover() == nil }()
	synctest.Wait()
	return true
}

// TestInBubble is why start refuses to be called where time is real.
func TestInBubble(t *testing.T) {
	if inBubble() {
		t.Error("a test is in a bubble of its own accord")
	}
	synctest.Test(t, func(t *testing.T) {
		if !inBubble() {
			t.Error("within synctest.Test it is not in a bubble")
		}
	})
}

// inTime is virtual for subtests.
func inTime(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { virtual(t, test) }
}

// start starts a stage for a world of stage/worlds, within virtual: its functions are
// called as Go.
func start(t *testing.T, name string, change ...func(*Options)) *running {
	t.Helper()
	if !inBubble() {
		t.Fatal("start is for tests within virtual: hours of its time would be hours of the wall's here")
	}
	// Of virtual time there is enough: where it ran faster than the functions' own, a
	// second's wait for a retry were ten minutes of a queue, whose message came again
	// while the first was worked on, and so without end.
	asItIs := func(o *Options) {
		if o.Rate != 1 {
			t.Fatalf("virtual time at %v times its pace", o.Rate)
		}
	}
	return startWith(t, Options{World: "worlds/" + name + ".yaml", Rate: 1, Programs: programs.All()}, append(change, asItIs))
}

// startReal starts a stage whose functions are the binaries that are deployed, each a
// process, in a time that runs faster than the wall's.
func startReal(t *testing.T, name string, change ...func(*Options)) *running {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, Options{World: "worlds/" + name + ".yaml", Binaries: dir, Rate: 300, Slow: 20}, change)
}

func startWith(t *testing.T, o Options, change []func(*Options)) *running {
	t.Helper()
	out := &logs{}
	o.Template, o.Out, o.Log = "../infra/Rollcall.template.json", out, slog.New(slog.NewTextHandler(out, nil))
	for _, c := range change {
		c(&o)
	}
	s, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{s, t, out, s.Clock.Work()}
	t.Cleanup(func() {
		s.Close()
		for _, c := range s.Cloud.Calls() {
			if c.Misfit != "" {
				t.Errorf("%s sent %s a request that AWS refuses: %s", c.Caller, c.Action(), c.Misfit)
			}
		}
		r.consistent()
		if t.Failed() || os.Getenv("STAGELOG") != "" {
			text := out.String()
			if len(text) > 400_000 {
				text = "…" + text[len(text)-400_000:]
			}
			t.Logf("the functions' logs:\n%s", text)
		}
	})
	return r
}

// consistent holds that no message that was ever posted or edited to, in whichever test,
// says one thing against another.
func (r *running) consistent() {
	r.t.Helper()
	for _, c := range r.Slack.Calls() {
		if c.Method != "chat.postMessage" && c.Method != "chat.update" || c.Params["blocks"] == "" {
			continue
		}
		found, err := messagecheck.Contradictions([]byte(c.Params["blocks"]), c.Params["thread_ts"] != "")
		if errors.Is(err, messagecheck.ErrUnread) {
			r.t.Error(err)
		}
		if err != nil {
			continue // what is no block the stand-in refuses
		}
		for _, says := range found {
			r.t.Errorf("a message says one thing against another: %s\n%s", says, c.Params["text"])
		}
	}
}

// scale sets the desired size of the route story's new nodegroup.
func (r *running) scale(desired, most int32) {
	r.t.Helper()
	_, err := eks.NewFromConfig(r.AsAdmin()).UpdateNodegroupConfig(context.Background(), &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"),
		ScalingConfig: &types.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(most), DesiredSize: aws.Int32(desired)},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// until waits until something is so: for hours of a virtual time, and of the wall's
// with much to spare.
func (r *running) until(what string, seen func() bool) {
	r.t.Helper()
	deadline, step := time.Now().Add(4*time.Minute), 10*time.Millisecond
	if r.network != nil {
		deadline, step = time.Now().Add(6*time.Hour), 5*time.Second
	}
	for {
		rest := r.Clock.Work()
		r.rest()
		if r.rest = rest; seen() {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: not seen by %s of stage time", what, r.Clock.Now().Format(time.TimeOnly))
		}
		r.rest()
		time.Sleep(step)
	}
}

// pass lets a span of stage time go by.
func (r *running) pass(d time.Duration) {
	r.t.Helper()
	r.rest()
	defer func() { r.rest = r.Clock.Work() }()
	if err := r.Clock.Sleep(context.Background(), d); err != nil {
		r.t.Fatal(err)
	}
}

// messages are the channel's messages.
func (r *running) messages() []fakeslack.Message {
	return slices.DeleteFunc(r.Slack.Messages(Channel), func(m fakeslack.Message) bool { return m.ThreadTS != "" })
}

// hasMessage reports whether there is one message, with all of the texts in it.
func (r *running) hasMessage(texts ...string) func() bool {
	return func() bool {
		m := r.messages()
		if len(m) != 1 {
			return false
		}
		all := whole(m[0])
		for _, text := range texts {
			if !strings.Contains(all, text) {
				return false
			}
		}
		return true
	}
}

// whole is all that a message says.
func whole(m fakeslack.Message) string {
	all := m.Text + "\n" + string(m.Blocks)
	for _, reply := range m.Replies {
		all += "\n" + reply.Text + "\n" + string(reply.Blocks)
	}
	return strings.ReplaceAll(all, `\u003e`, ">")
}

// incidents are the incidents of the workshop's cluster.
func (r *running) incidents() []incident.Incident {
	r.t.Helper()
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now)
	list, err := table.Incidents(context.Background(), "eks-workshop")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// queued counts the messages of a queue, by its deployed name.
func (r *running) queued(name string) int {
	r.t.Helper()
	for _, q := range r.Template.Queues {
		if q.Name == name {
			d, err := r.Queues.Depth(q.ARN)
			if err != nil {
				r.t.Fatal(err)
			}
			return d.Visible + d.InFlight + d.Delayed
		}
	}
	r.t.Fatalf("no queue %s", name)
	return 0
}

// karpenterMessages are the messages of the Karpenter story that are kept, in its
// order.
var karpenterMessages = []string{"story-karpenter-policy", "story-karpenter-subnets", "story-karpenter-route"}

// costCenter is the organization's policy: nothing is started without a tag.
const costCenter = `{"Version":"2012-10-17","Statement":[{"Sid":"RequireCostCenter","Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"Null":{"aws:RequestTag/cost-center":"true"}}}]}`

// withKarpenter starts the Karpenter story's world, whose operator has applied the
// ClusterRole.
func withKarpenter(t *testing.T, change ...func(*worldfile.File)) *running {
	t.Helper()
	return start(t, "karpenter", func(o *Options) {
		o.Rights, o.Settings = "../deploy/clusterrole.yaml", map[string]string{string(config.DecodeDenied): "on"}
		o.Change = func(f *worldfile.File) {
			for _, c := range change {
				c(f)
			}
		}
	})
}

// waits brings a pod that wants the nodes of a NodePool.
func (r *running) waits(name, pool string) {
	r.t.Helper()
	if err := r.World.Apply("eks-workshop", worldfile.SetFile{Namespace: "etl", Name: name, NodeSelector: map[string]string{"karpenter.sh/nodepool": pool}}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) forbid() {
	r.World.AttachControlPolicies(worldfile.ControlPolicy{Name: "RequireCostCenter", Document: costCenter})
}

func (r *running) patchClass(name string, spec map[string]any) {
	r.t.Helper()
	if err := r.World.Patch("eks-workshop", "ec2nodeclasses", "", name, map[string]any{"spec": spec}); err != nil {
		r.t.Fatal(err)
	}
}

// message is the channel's message in which all of some texts are.
func (r *running) message(texts ...string) (fakeslack.Message, bool) {
	for _, m := range r.messages() {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(whole(m), text) }) {
			return m, true
		}
	}
	return fakeslack.Message{}, false
}

// awaitMessage waits for the message, and for what is looked up of it.
func (r *running) awaitMessage(texts ...string) fakeslack.Message {
	r.t.Helper()
	r.until(strings.Join(texts, ", "), func() bool { _, ok := r.message(texts...); return ok })
	m, _ := r.message(texts...)
	return m
}

// over waits until a message says that it is over.
func (r *running) over(m fakeslack.Message) {
	r.t.Helper()
	r.until("it is over: "+m.Text, func() bool {
		return slices.ContainsFunc(r.messages(), func(now fakeslack.Message) bool { return now.TS == m.TS && strings.Contains(whole(now), "✅") })
	})
}

// TestKarpenterStory is the story of make demo STORY=karpenter: three causes, each
// told in the words that are kept, mended as people do, and over by itself.
func TestKarpenterStory(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := withKarpenter(t)
		cloud := ec2.NewFromConfig(r.AsAdmin())
		keep := func(name string, m fakeslack.Message) { keepMessage(t, name, m) }
		r.pass(30*time.Second + 500*time.Millisecond) // the same second, whichever the world has come to
		r.forbid()
		r.waits("frontend", "web")
		policy := r.awaitMessage("NodePool web cannot launch", "a service control policy forbids it", "Also checked", "RequireCostCenter", "cost-center")
		keep(karpenterMessages[0], policy)
		r.patchClass("default", map[string]any{"tags": map[string]any{"cost-center": "4711"}})
		r.over(policy)

		r.waits("nightly", "batch")
		subnets := r.awaitMessage("EC2NodeClass batch matches no subnets", "etl/nightly-0 is waiting for it", "karpenter.sh/discovery=eks-workshop-batch")
		keep(karpenterMessages[1], subnets)
		if _, err := cloud.CreateTags(t.Context(), &ec2.CreateTagsInput{
			Resources: []string{"subnet-0c30000000000000d"}, Tags: []ec2types.Tag{{Key: aws.String("karpenter.sh/discovery"), Value: aws.String("eks-workshop-batch")}},
		}); err != nil {
			t.Fatal(err)
		}
		r.over(subnets)

		route := r.awaitMessage("subnet-0c30000000000000d has no route to the internet", "rtb-0cd20000000000002", "Also checked", "Changed")
		keep(karpenterMessages[2], route)
		if _, err := cloud.CreateRoute(t.Context(), &ec2.CreateRouteInput{
			RouteTableId: aws.String("rtb-0cd20000000000002"), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String("nat-0aa40000000000001"),
		}); err != nil {
			t.Fatal(err)
		}
		r.over(route)
		if n := len(r.messages()); n != len(karpenterMessages) {
			t.Errorf("%d messages, want %d", n, len(karpenterMessages))
		}
		for _, inc := range r.incidents() {
			if inc.State != incident.Closed {
				t.Errorf("%s is %s", inc.Key, inc.State)
			}
		}
	})
}

// TestKarpenterKeepsItsPeace: what passes by itself while Karpenter works as it is
// meant to is no incident. For two minutes there is no capacity; some of a
// fleet's offers fail; the dry runs of a role that may launch come every half hour;
// and a NodeClaim goes because its pods do.
func TestKarpenterKeepsItsPeace(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := withKarpenter(t, func(f *worldfile.File) {
			f.Kubernetes["eks-workshop"].NodePools[1]["spec"] = f.Kubernetes["eks-workshop"].NodePools[0]["spec"] // no class without subnets
			f.Spot.Pools = append(f.Spot.Pools,
				worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0), For: 3 * time.Minute},
				worldfile.PoolFile{Type: "m5.large", OnDemand: true, Capacity: aws.Int(2)})
		})
		for i := range 4 {
			r.waits(fmt.Sprintf("job%d", i), "web")
			r.pass(20 * time.Minute)
		}
		if m := r.messages(); len(m) > 0 {
			t.Errorf("the channel says %s", whole(m[0]))
		}
		counts := map[string]int{}
		for _, p := range r.Events() {
			var e struct {
				Detail struct{ EventName, ErrorCode string } `json:"detail"`
			}
			if err := json.Unmarshal(p.Event, &e); err != nil {
				t.Fatal(err)
			}
			counts[e.Detail.EventName+" "+e.Detail.ErrorCode]++
		}
		for _, want := range []string{"CreateFleet ", "CreateFleet Client.DryRunOperation", "RunInstances Client.DryRunOperation",
			"RunInstances Server.InsufficientInstanceCapacity"} {
			if counts[want] == 0 {
				t.Errorf("no event %q: %v", want, counts)
			}
		}
	})
}

// TestRefusalsByKarpenter: what keeps a NodePool from launching is named, whether EC2
// says so of the fleet or in its answer; one incident for the NodePool, whatever many
// calls are made.
func TestRefusalsByKarpenter(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*worldfile.File)
		act    func(r *running)
		check  checkid.ID
		says   []string
		// often are refusals that another of these is like.
		often bool
	}{
		"the fleet itself is forbidden": {
			act: func(r *running) {
				r.World.AttachControlPolicies(worldfile.ControlPolicy{Name: "x", Document: `{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`})
			}, check: checkid.LaunchPolicyDenied, says: []string{"NodePool web cannot launch", "a service control policy forbids it", "ec2:CreateFleet"},
			often: true,
		},
		"the role of the nodes may not be passed": {
			change: func(f *worldfile.File) {}, act: func(r *running) {
				r.World.AttachControlPolicies(worldfile.ControlPolicy{Name: "x", Document: `{"Statement":[{"Effect":"Deny","Action":"iam:PassRole","Resource":"*"}]}`})
			}, check: checkid.LaunchPolicyDenied, says: []string{"NodePool web cannot launch", "iam:PassRole"},
		},
		"a shortage that stays": {
			change: func(f *worldfile.File) {
				f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0)})
			}, act: func(r *running) {}, check: checkid.LaunchInsufficientCapacity, says: []string{"NodePool web cannot launch", "EC2 has no capacity", "us-west-2a"},
			often: true, // TestBurst's too
		},
		"the dry runs are refused": {
			change: func(f *worldfile.File) {
				f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{{Name: "x",
					Document: `{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`}}
			}, act: func(r *running) {}, check: checkid.KarpenterNodeclassNotReady, says: []string{"2 NodePools cannot launch: EC2NodeClass default is not allowed to", "create fleets", "StatefulSet etl/frontend"},
		},
	} {
		if test.often && !testfull.Asked() {
			continue
		}
		t.Run(name, inTime(func(t *testing.T) {
			r := withKarpenter(t, func(f *worldfile.File) {
				f.Kubernetes["eks-workshop"].NodePools[1]["spec"] = f.Kubernetes["eks-workshop"].NodePools[0]["spec"]
				if test.change != nil {
					test.change(f)
				}
			})
			r.pass(30 * time.Second)
			test.act(r)
			r.waits("frontend", "web")
			r.awaitMessage(test.says...)
			r.pass(30 * time.Minute)
			if n := len(r.messages()); n != 1 {
				t.Errorf("%d messages: %v", n, r.messages())
			}
			for _, inc := range r.incidents() {
				if inc.Key.Check != test.check {
					t.Errorf("an incident of %s", inc.Key.Check)
				}
			}
		}))
	}
}

// perHour is the limit of the test.
const perHour = 3

// TestTheLimitIsWaitedFor: more instances are stuck than the three that may be replaced in
// an hour. All of them are in the end, by policy, and no hour has more.
func TestTheLimitIsWaitedFor(t *testing.T) { virtual(t, theLimitIsWaitedFor) }

func theLimitIsWaitedFor(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.Settings = map[string]string{
			string(config.SlackActions): "on", string(config.Remedies): "eks-workshop/replace-instance=auto", string(config.RemedyLimit): "3",
		}
	})
	n := testfull.Count(7, 4) // four wait for one hour, seven for two
	r.scale(int32(n), int32(n))
	r.until("the missed roll call", r.hasMessage(fmt.Sprint(n)+" instances cannot join"))
	stuck := r.alive()
	if len(stuck) != n {
		t.Fatalf("stuck are %q", stuck)
	}
	r.pass(32 * time.Minute) // the launch hook's time is over: they are in service
	if _, err := ec2.NewFromConfig(r.AsAdmin()).CreateRoute(context.Background(), &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat),
	}); err != nil {
		t.Fatal(err)
	}
	r.until("the first three", func() bool { return len(r.runs()) == 1 && r.runs()[0].Result == remedy.Done })
	r.until("that the rest waits is said", r.replied("Waiting: the rest waits for the hourly limit. Next try "))
	r.until("a node has joined", func() bool { return len(r.incident().Joins) > 0 || r.incident().Proof != nil })
	r.pass(12 * time.Minute)
	if i := r.incident(); i.State != incident.Cleared || !i.Replacing() {
		t.Errorf("while some wait the incident is %s", i.State)
	}
	r.until("all are replaced", func() bool {
		now := r.alive()
		return !slices.ContainsFunc(stuck, func(id string) bool { return slices.Contains(now, id) })
	})
	r.until("the end", func() bool { return r.incident().State == incident.Closed })
	if i := r.incident(); i.Resolution != incident.Proved {
		t.Errorf("it ended as %s", i.Resolution)
	}
	r.withinTheLimit(stuck)
	r.nothingLost()
}

// withinTheLimit holds the runs against the limit: each instance once, never
// more than so many in any hour.
func (r *running) withinTheLimit(stuck []string) {
	r.t.Helper()
	var ended []string
	var at []time.Time
	list := r.runs()
	slices.SortFunc(list, func(a, b remedy.Run) int { return a.Began.Compare(b.Began) })
	for _, d := range list {
		if d.Result != remedy.Done || d.Policy != optin.Auto {
			r.t.Errorf("run %+v", d)
		}
		for _, id := range d.Changed {
			ended, at = append(ended, id), append(at, d.Ended)
		}
		if n := len(at); n > perHour {
			if apart := d.Began.Sub(at[n-1-perHour]); apart < time.Hour {
				r.t.Errorf("%d were ended within %s", perHour+1, apart)
			}
		}
	}
	slices.Sort(ended)
	if !slices.Equal(ended, stuck) {
		r.t.Errorf("ended were %q, stuck %q", ended, stuck)
	}
	calls := 0
	for _, c := range r.wrote() {
		if strings.HasPrefix(c, "autoscaling:TerminateInstanceInAutoScalingGroup") {
			calls++
		}
	}
	if calls != len(stuck) {
		r.t.Errorf("%d calls end instances, want %d", calls, len(stuck))
	}
}

// alive are the instances that run, in order.
func (r *running) alive() (ids []string) {
	r.t.Helper()
	out, err := ec2.NewFromConfig(r.AsAdmin()).DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{
		Filters: []ec2types.Filter{
			{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
			{Name: aws.String("subnet-id"), Values: []string{"subnet-0c30000000000000d"}},
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range out.Reservations {
		for _, i := range x.Instances {
			ids = append(ids, aws.ToString(i.InstanceId))
		}
	}
	slices.Sort(ids)
	return ids
}
