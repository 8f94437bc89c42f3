package diagnose

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/command/caller"
	"rollcall/command/callertest"
	"rollcall/command/capture"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/command/subject"
	"rollcall/shared/kube"
	"rollcall/stage"
	"rollcall/stage/examine"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// ask looks at a subject as the command does: the result, the status with which the
// command would end, and what is wrong.
func ask(t *testing.T, path string) (result.Result, int, string) {
	t.Helper()
	var notes bytes.Buffer
	r, err := Examine(t.Context(), subject.Subject{Path: path}, examine.Worlds{}, &notes)
	var misuse *exit.MisuseError
	var bad *capture.Error
	switch {
	case errors.As(err, &misuse), errors.As(err, &bad):
		return result.Result{}, exit.BadInput, notes.String() + err.Error()
	case err != nil:
		t.Fatal(err)
	}
	valid(t, []byte(printed(t, r)))
	status := r.Status()
	// Of the healthy capture too it is said that three zones leave by one NAT
	// gateway.
	r.Incidents = slices.DeleteFunc(r.Incidents, func(i result.Incident) bool {
		return i.Cause == "route/cross-zone-nat" && slices.Contains(i.Resources, "rtb-0b200000000000abc")
	})
	return r, status, notes.String()
}

// printed is a result as JSON.
func printed(t *testing.T, r result.Result) string {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// valid holds what was printed against the schema.
func valid(t *testing.T, printed []byte) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(here(t), "..", "result", "result.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(printed))
	if err != nil {
		t.Fatalf("%v in %q", err, printed)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
}

// first is the first incident as cause and confidence, or "".
func first(r result.Result) string {
	if len(r.Incidents) == 0 {
		return ""
	}
	return r.Incidents[0].Cause + " " + r.Incidents[0].Confidence
}

func TestCaptures(t *testing.T) {
	noEgress := []change{noNode(), noWayOut()}
	epochs := edited("autoscaling-describe-auto-scaling-groups", func(v any) {
		for _, g := range at(v, "AutoScalingGroups").([]any) {
			g.(map[string]any)["CreatedTime"] = 1763650000.25
		}
	})
	heartbeat := edited("kubectl-get-nodes.eks-workshop", func(v any) {
		at(v, "items", 0, "status", "conditions", 0).(map[string]any)["lastHeartbeatTime"] = "2026-11-20T15:09:40Z"
	})
	planned := edited("ec2-describe-instance-status", func(v any) {
		at(v, "InstanceStatuses", 0).(map[string]any)["Events"] = []any{map[string]any{"Code": "system-reboot", "NotBefore": "2026-11-25T02:00:00Z", "NotAfter": "2026-11-25T04:00:00Z"}}
	})
	tests := map[string]struct {
		changes []change
		status  int
		// first is the first incident, "" for none.
		first string
		// says must stand on the error output, unknown in a reason.
		says, unknown string
	}{
		"healthy":                  {nil, 0, "", "", ""},
		"no route to the internet": {noEgress, 1, "route/no-egress certain", "", ""},
		"a symptom alone":          {[]change{noNode()}, 1, "node/not-registered symptom", "", ""},
		"a file is missing":        {append(noEgress, without("ec2-describe-route-tables.json")), 2, "node/not-registered symptom", "", "the capture has no ec2-describe-route-tables.json"},
		"a file is empty":          {append(noEgress, with("ec2-describe-route-tables.json", "")), 2, "node/not-registered symptom", "the file is empty", "not read"},
		"half a list":              {append(noEgress, edited("ec2-describe-route-tables", func(v any) { v.(map[string]any)["NextToken"] = "abc" })), 2, "node/not-registered symptom", "first page", "not read"},
		"a call was refused": {append(noEgress, without("ec2-describe-subnets.json"), with("errors.json", `{"ec2-describe-subnets": {"code": "UnauthorizedOperation", "message": "You are not authorized to perform this operation."}}`)),
			2, "node/not-registered symptom", "", "ec2:DescribeSubnets: denied (UnauthorizedOperation"},
		"nothing missing that is needed": {[]change{without("ec2-describe-route-tables.json", "ec2-describe-vpc-endpoints.json")}, 0, "", "", ""},
		"no nodes file":                  {[]change{without("kubectl-get-nodes.eks-workshop.json")}, 2, "", "", "kubernetes: list nodes: not read"},
		"nodes forbidden": {[]change{without("kubectl-get-nodes.eks-workshop.json"), with("errors.json", `{"kubectl-get-nodes.eks-workshop": {"code": "Forbidden", "message": "nodes is forbidden"}}`)},
			2, "", "", "kubernetes: list nodes: denied (Forbidden: nodes is forbidden)"},
		"times of CLI v1":        {append(noEgress, launched(1795186690.0), epochs), 1, "route/no-egress certain", "", ""},
		"times with an offset":   {append(noEgress, launched("2026-11-20T23:58:10+09:00")), 1, "route/no-egress certain", "", ""},
		"no time.txt":            {append(noEgress, without("time.txt"), heartbeat, planned), 1, "route/no-egress certain", "", ""},
		"young":                  {append(noEgress, launched("2026-11-20T15:08:00Z")), 1, "route/no-egress certain", "", ""},
		"young and nothing sure": {[]change{noNode(), launched("2026-11-20T15:08:00Z")}, 0, "", "", ""},
		"young without nodes":    {[]change{noNode(), launched("2026-11-20T15:08:00Z"), without("ec2-describe-route-tables.json")}, 0, "", "", ""},
		"young with its event":   {append(noEgress, launched("2026-11-20T15:09:00Z"), running("2026-11-20T15:09:05Z")), 1, "route/no-egress certain", "", ""},
		"event of a Ready node":  {[]change{noWayOut(), running("2026-11-20T15:09:05Z")}, 0, "", "", ""},
		"event of yesterday":     {append(noEgress, launched("2026-11-20T15:08:00Z"), running("2026-11-19T15:09:05Z")), 1, "route/no-egress certain", "it is not played", ""},
		"another file":           {append(noEgress, with("notes.txt", "x"), with("s3-list-buckets.json", "{}")), 1, "route/no-egress certain", "s3-list-buckets.json: not a file that a capture has", ""},
		"a newer service": {append(noEgress, edited("ec2-describe-instances", func(v any) {
			in := at(v, "Reservations", 0, "Instances", 0).(map[string]any)
			in["Quantum"], in["InstanceType"] = map[string]any{"Spin": []any{1}}, "z99.metal"
		}), edited("eks-describe-cluster.eks-workshop", func(v any) {
			at(v, "cluster").(map[string]any)["status"] = "ACTIVE"
			at(v, "cluster").(map[string]any)["upgradePolicy"] = map[string]any{"supportType": "ETERNAL"}
		})), 1, "route/no-egress certain", "", ""},
		"UTF-16 of PowerShell":  {append(noEgress, utf16("ec2-describe-subnets.json")), 1, "route/no-egress certain", "", ""},
		"no list of clusters":   {append(noEgress, without("eks-list-clusters.json")), 1, "route/no-egress certain", "", ""},
		"nodegroup with a dash": {append(noEgress, replaced("new_nodegroup_2", "new-nodegroup-2")), 1, "route/no-egress certain", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, status, errs := ask(t, folder(t, tt.changes...))
			if status != tt.status || first(r) != tt.first {
				t.Errorf("status %d, first %q, want %d, %q\n%+v\n%s", status, first(r), tt.status, tt.first, r, errs)
			}
			if r.Healthy != (status == exit.Healthy) {
				t.Errorf("healthy %v with status %d", r.Healthy, status)
			}
			if !strings.Contains(errs, tt.says) {
				t.Errorf("says %q, want %q in it", errs, tt.says)
			}
			reasons := ""
			for _, u := range r.Unknown {
				reasons += u.Reason + "\n"
			}
			if !strings.Contains(reasons, tt.unknown) || tt.unknown == "" && reasons != "" {
				t.Errorf("unknown %+v, want %q in it", r.Unknown, tt.unknown)
			}
		})
	}
}

// utf16 writes a file anew as PowerShell's redirection does.
func utf16(name string) change {
	return func(t *testing.T, dir string) {
		data := testfile.Read(t, filepath.Join(dir, name))
		out := []byte{0xFF, 0xFE}
		for _, b := range data {
			out = append(out, b, 0)
		}
		with(name, string(out))(t, dir)
	}
}

func TestIncident(t *testing.T) {
	r, _, _ := ask(t, folder(t, noNode(), noWayOut()))
	if len(r.Incidents) != 1 {
		t.Fatalf("%d incidents, want 1: %+v", len(r.Incidents), r.Incidents)
	}
	got := r.Incidents[0]
	if got.Fix.Command == "" || len(got.Evidence) == 0 || got.Title == "" || got.Why == "" || got.Console == "" {
		t.Errorf("incident %+v lacks words", got)
	}
	got.Title, got.Why, got.Console, got.Evidence, got.Fix = "", "", "", nil, result.Fix{}
	want := result.Incident{
		Cause: "route/no-egress", Confidence: "certain", Cluster: "eks-workshop",
		Resources: []string{table, subnet}, Nodegroups: []string{"new_nodegroup_2"}, Instances: []string{young},
		Contributing: []string{}, Symptoms: []string{"node/not-registered"}, Hidden: []result.Hidden{}, Resource: table, By: "join-check",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTwoClusters holds that every cluster of a capture is looked at, and that
// each has a Kubernetes API of its own.
func TestTwoClusters(t *testing.T) {
	dir := folder(t, noNode(), noWayOut(),
		with("eks-list-clusters.json", `{"clusters": ["dev", "eks-workshop"]}`),
		with("kubectl-get-nodes.dev.json", `{"apiVersion": "v1", "kind": "List", "items": []}`))
	data := testfile.Read(t, filepath.Join(dir, "eks-describe-cluster.eks-workshop.json"))
	with("eks-describe-cluster.dev.json", strings.ReplaceAll(string(data), "eks-workshop", "dev"))(t, dir)
	r, status, errs := ask(t, dir)
	if status != exit.Causes || first(r) != "route/no-egress certain" || r.Incidents[0].Cluster != "eks-workshop" {
		t.Errorf("status %d, %+v\n%s", status, r, errs)
	}
	for _, u := range r.Unknown {
		if u.Resource == "dev" && strings.HasPrefix(u.Check, "node/") {
			t.Errorf("the nodes of dev were not read: %+v", u)
		}
	}
}

func TestBadInput(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nothing")
	tests := map[string]struct {
		subject string
		says    []string
	}{
		"no such folder":   {missing, []string{missing + ": no such folder or file: check the spelling"}},
		"below a file":     {filepath.Join(folder(t, with("a", "")), "a", "capture"), []string{"not readable: stat ", "capture: not a directory"}},
		"an empty folder":  {t.TempDir(), []string{"it is not a capture"}},
		"broken JSON":      {folder(t, with("ec2-describe-vpcs.json", "{\n  \"Vpcs\": [}\n")), []string{"ec2-describe-vpcs.json: line 2, column", "invalid character"}},
		"JSON cut off":     {folder(t, with("ec2-describe-vpcs.json", "{\n  \"Vpcs\": [")), []string{"ec2-describe-vpcs.json: line 2, column 11", "ends before it is complete"}},
		"two values":       {folder(t, with("ec2-describe-vpcs.json", `{"Vpcs": []}{"Vpcs": []}`)), []string{"more than one JSON value"}},
		"another form":     {folder(t, with("ec2-describe-vpcs.json", `{"Vpcs": "many"}`)), []string{"ec2-describe-vpcs.json: Vpcs: want a list, got text"}},
		"a list":           {folder(t, with("ec2-describe-vpcs.json", `[]`)), []string{"want a JSON object, got a list"}},
		"a broken time":    {folder(t, with("time.txt", "noon")), []string{"time.txt", "the text is not a time"}},
		"broken errors":    {folder(t, with("errors.json", `{"ec2-describe-vpcs": {}}`)), []string{"errors.json", "ec2-describe-vpcs"}},
		"no event":         {folder(t, with("event.json", `{"detail": {}}`)), []string{"event.json", "not an EventBridge event"}},
		"a world's fault":  {filepath.Join(folder(t, with("w.yaml", "ec2: {Subnts: []}\n")), "w.yaml"), []string{"ec2.Subnts: unknown field"}},
		"JSON is no world": {filepath.Join(folder(t), "ec2-describe-vpcs.json"), []string{"not a capture or world file"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, status, errs := ask(t, tt.subject)
			if status != exit.BadInput {
				t.Errorf("status %d, want %d\n%s", status, exit.BadInput, errs)
			}
			for _, s := range tt.says {
				if !strings.Contains(errs, s) {
					t.Errorf("says %q, want %q in it", errs, s)
				}
			}
		})
	}
}

// TestWorlds holds that a world goes the same way as a capture.
func TestWorlds(t *testing.T) {
	for name, want := range map[string]string{
		"healthy-nat": "", "samples": "route/no-egress certain", "nat-unusable": "route/nat-unusable certain", "denied-route-tables": "node/not-registered symptom",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, status, errs := ask(t, filepath.Join(here(t), "..", "..", "stage", "worlds", name+".yaml"))
			if first(r) != want {
				t.Errorf("first %q, want %q\n%s", first(r), want, errs)
			}
			if name == "denied-route-tables" && status != exit.Unsure {
				t.Errorf("status %d, want %d", status, exit.Unsure)
			}
		})
	}
}

// all applies changes in order.
func all(list ...change) change {
	return func(t *testing.T, dir string) {
		for _, c := range list {
			c(t, dir)
		}
	}
}

// only keeps some files.
func only(names ...string) change {
	return func(t *testing.T, dir string) {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		keep := map[string]bool{}
		for _, n := range names {
			keep[n] = true
		}
		for _, f := range files {
			if !keep[strings.TrimSuffix(f.Name(), ".json")] {
				if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// inChina moves the account to a region of China; its services have other
// names there.
func inChina() change {
	return all(replaced("us-west-2", "cn-north-1"), replaced("arn:aws:", "arn:aws-cn:"), replaced("eks.amazonaws.com", "eks.amazonaws.com.cn"), replaced("ec2.amazonaws.com", "ec2.amazonaws.com.cn"),
		func(t *testing.T, dir string) {
			inUserData("us-west-2", "cn-north-1")(t, dir)
			inUserData("eks.amazonaws.com", "eks.amazonaws.com.cn")(t, dir)
		})
}

func inGovCloud() change {
	return all(replaced("us-west-2", "us-gov-west-1"), replaced("arn:aws:", "arn:aws-us-gov:"), inUserData("us-west-2", "us-gov-west-1"))
}

// chinese endpoints have a prefix for all but S3 and ECR.
func chineseEndpoints() change {
	return all(changed("ec2-describe-vpc-endpoints", "com.amazonaws.cn-north-1.ec2", "cn.com.amazonaws.cn-north-1.ec2"),
		changed("ec2-describe-vpc-endpoints", "com.amazonaws.cn-north-1.sts", "cn.com.amazonaws.cn-north-1.sts"),
		changed("ec2-describe-vpc-endpoints", "com.amazonaws.cn-north-1.eks", "cn.com.amazonaws.cn-north-1.eks"))
}

// cloned adds a second cluster, with nodes of its own.
func cloned(name string) change {
	return func(t *testing.T, dir string) {
		for _, kind := range []string{"eks-describe-cluster", "kubectl-get-daemonset-aws-node", "kubectl-get-serviceaccount-aws-node", "kubectl-get-configmap-aws-auth", "kubectl-get-pods", "kubectl-get-events", "kubectl-get-csr", "eks-list-addons", "eks-describe-addon"} {
			files, err := filepath.Glob(filepath.Join(dir, kind+".*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				data := testfile.Read(t, f)
				with(strings.ReplaceAll(filepath.Base(f), cluster, name), strings.ReplaceAll(string(data), cluster, name))(t, dir)
			}
		}
		with("eks-list-clusters.json", `{"clusters": ["`+name+`", "`+cluster+`"]}`)(t, dir)
		with("kubectl-get-nodes."+name+".json", `{"apiVersion": "v1", "kind": "List", "items": []}`)(t, dir)
		with("eks-list-nodegroups."+name+".json", `{"nodegroups": []}`)(t, dir)
		with("eks-list-access-entries."+name+".json", `{"accessEntries": []}`)(t, dir)
		with("eks-list-pod-identity-associations."+name+".json", `{"associations": []}`)(t, dir)
	}
}

func tags(pairs ...string) change {
	list := []map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]string{"Key": pairs[i], "Value": pairs[i+1]})
	}
	raw, _ := json.Marshal(list)
	return set(instances, it+".Tags", string(raw))
}

const tomlData = "[settings.kubernetes]\ncluster-name = \"eks-workshop\"\napi-server = \"https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com\"\ncluster-certificate = \"Q0E=\"\n"

// TestAccounts holds accounts of other kinds.
func TestAccounts(t *testing.T) {
	symptom := said{1, []string{"node/not-registered symptom"}, nil, ""}
	blind := func(unknown string) said { return said{2, []string{"node/not-registered symptom"}, nil, unknown} }
	windows := all(set(instances, it+".Platform", `"windows"`), set(instances, it+".PlatformDetails", `"Windows"`), set(images, "Images.+", `{"ImageId": "ami-0win", "Name": "Windows_Server-2022-English-Full-EKS_Optimized-1.34-2026.11.12", "OwnerId": "957547624766", "ImageOwnerAlias": "amazon", "Platform": "windows", "Architecture": "x86_64", "State": "available", "CreationDate": "2026-11-12T20:00:00.000Z"}`),
		set(instances, it+".ImageId", `"ami-0win"`), set(groupFile, "nodegroup.amiType", `"WINDOWS_FULL_2022_x86_64"`), set(entryFile, "accessEntry.type", `"EC2_WINDOWS"`), set(entryFile, "accessEntry.kubernetesGroups", `["eks:kube-proxy-windows", "system:nodes"]`),
		userData("<powershell>\n[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n& $EKSBootstrapScriptFile -EKSClusterName \"eks-workshop\" 3>&1 4>&1 5>&1 6>&1\n</powershell>\n"),
		wrote("2026/11/20 15:00:10Z: Windows is Ready to use\n"))
	karpenter := all(tags("karpenter.sh/nodepool", "default", "kubernetes.io/cluster/eks-workshop", "owned", "eks:eks-cluster-name", cluster), with(activities+".json", `{"Activities": []}`), set(groups, everyGroup+".Instances", `[]`), set(groups, everyGroup+".DesiredCapacity", "0"))
	const noItems = `{"apiVersion": "v1", "kind": "List", "items": []}`
	pools := with("kubectl-get-nodepools.eks-workshop.json", noItems)
	aPool := with("kubectl-get-nodepools.eks-workshop.json", `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default", "generation": 1}, "spec": {"template": {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}, "status": {"conditions": [{"type": "NodeClassReady", "status": "Unknown", "reason": "AwaitingReconciliation", "lastTransitionTime": "2026-11-20T10:00:00Z"}]}}]}`)
	second := cloned("dev")
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"China":                                  {said{}, []change{inChina()}},
		"China, no route to the internet":        {one("route/no-egress", table), []change{noNode(), noWayOut(), inChina()}},
		"China, private":                         {symptom, []change{noNode(), isolated(), inChina(), chineseEndpoints()}},
		"China, endpoint missing":                {one("endpoint/missing", vpc), []change{noNode(), isolated("ecr.api"), inChina(), chineseEndpoints()}},
		"GovCloud":                               {said{}, []change{inGovCloud()}},
		"GovCloud, no route to the internet":     {one("route/no-egress", table), []change{noNode(), noWayOut(), inGovCloud()}},
		"GovCloud, private":                      {symptom, []change{noNode(), isolated(), inGovCloud()}},
		"Windows":                                {symptom, []change{noNode(), windows}},
		"Windows, wrong cluster":                 {one("instance/user-data"), []change{noNode(), windows, inUserData("eks-workshop", "eks-other")}},
		"Windows, entry for Linux":               {said{1, []string{"iam/access-wrong-type possible"}, nil, ""}, []change{noNode(), windows, set(entryFile, "accessEntry.type", `"EC2_LINUX"`)}},
		"Bottlerocket, wrong CA":                 {one("instance/user-data"), []change{noNode(), set(images, "Images.0.Name", `"bottlerocket-aws-k8s-1.34-x86_64-v1.50.0-abcdef"`), set(groupFile, "nodegroup.amiType", `"BOTTLEROCKET_x86_64"`), userData(tomlData)}},
		"Karpenter":                              {said{1, []string{"instance/unowned possible"}, nil, ""}, []change{noNode(), karpenter, pools, with("kubectl-get-nodeclaims.eks-workshop.json", noItems)}},
		"Karpenter, its files missing":           {said{2, []string{"node/not-registered symptom"}, nil, "kubectl-get-nodepools.eks-workshop.json"}, []change{noNode(), karpenter}},
		"Karpenter, its node is Ready":           {said{2, nil, nil, "kubernetes: list nodepools: not read"}, []change{karpenter}},
		"Karpenter, claims missing":              {blind("kubectl-get-nodeclaims.eks-workshop.json"), []change{noNode(), karpenter, aPool, with("kubectl-get-ec2nodeclasses.eks-workshop.json", noItems)}},
		"Karpenter, classes missing":             {said{2, nil, nil, "kubectl-get-ec2nodeclasses.eks-workshop.json"}, []change{karpenter, aPool, with("kubectl-get-nodeclaims.eks-workshop.json", noItems)}},
		"Auto Mode is on, and unused":            {said{}, []change{set(described, "cluster.computeConfig", `{"enabled": true}`)}},
		"Karpenter, no route to the internet":    {one("route/no-egress", table), []change{noNode(), noWayOut(), karpenter}},
		"by its group's tags":                    {one("route/no-egress", table), []change{noNode(), noWayOut(), tags("aws:autoscaling:groupName", asg, "aws:ec2launchtemplate:id", lt, "aws:ec2launchtemplate:version", "1")}},
		"no tags key at all":                     {one("route/no-egress", table), []change{noNode(), noWayOut(), set(instances, it+".Tags", "")}},
		"shared VPC":                             {said{}, []change{set(subnets, "Subnets.*.OwnerId", `"999988887777"`), set("ec2-describe-vpcs", "Vpcs.0.OwnerId", `"999988887777"`)}},
		"two clusters":                           {one("route/no-egress", table), []change{second, noNode(), noWayOut()}},
		"two clusters, one unwell":               {one("cluster/health", "dev"), []change{second, set("eks-describe-cluster.dev", "cluster.status", `"FAILED"`)}},
		"another's nodes unread":                 {said{}, []change{second, without("kubectl-get-nodes.dev.json")}},
		"event and three files":                  {said{1, certain("route/no-egress"), []string{table}, ""}, []change{noNode(), noWayOut(), running("2026-11-20T15:09:05Z"), only(instances, tables, subnets, "ec2-describe-vpc-endpoints", described, nodes, "event", "time.txt")}},
		"nothing but instances":                  {said{2, nil, nil, ""}, []change{only(instances, "time.txt")}},
		"route tables refused":                   {blind("ec2:DescribeRouteTables: denied"), []change{noNode(), refused(tables + " UnauthorizedOperation")}},
		"NAT gateways refused":                   {blind("ec2:DescribeNatGateways: denied"), []change{noNode(), refused(nats + " UnauthorizedOperation")}},
		"endpoints refused":                      {blind("ec2:DescribeVpcEndpoints: denied"), []change{noNode(), refused("ec2-describe-vpc-endpoints UnauthorizedOperation")}},
		"security groups refused":                {blind("ec2:DescribeSecurityGroups: denied"), []change{noNode(), refused("ec2-describe-security-groups UnauthorizedOperation")}},
		"ACLs refused, no route to the internet": {one("route/no-egress", table), []change{noNode(), noWayOut(), refused("ec2-describe-network-acls UnauthorizedOperation", "ec2-describe-security-groups UnauthorizedOperation", roleFile+" AccessDenied", "ec2-get-console-output."+young+" UnauthorizedOperation")}},
		"role refused":                           {blind("iam:GetRole: denied"), []change{noNode(), refused(roleFile + " AccessDenied")}},
		"console refused":                        {blind("ec2:GetConsoleOutput: denied"), []change{noNode(), refused("ec2-get-console-output." + young + " UnauthorizedOperation")}},
		"user data refused":                      {blind("instance/user-data"), []change{noNode(), refused("ec2-describe-instance-attribute."+young+".userData UnauthorizedOperation", templates+" UnauthorizedOperation")}},
		"access entries refused":                 {blind("iam/access-missing"), []change{noNode(), refused("eks-list-access-entries.eks-workshop AccessDeniedException")}},
		"throttled":                              {blind("throttled"), []change{noNode(), refused(tables + " RequestLimitExceeded")}},
		"nodes throttled":                        {said{2, nil, nil, "node/not-registered"}, []change{refused(nodes + " TooManyRequests")}},
		"volumes refused":                        {said{2, nil, nil, "ec2:DescribeVolumes: denied"}, []change{refused("ec2-describe-volumes UnauthorizedOperation", "kubectl-get-pv.eks-workshop Forbidden", "ec2-describe-images UnauthorizedOperation", tables+" UnauthorizedOperation")}},
		"no role for nobody":                     {said{}, []change{refused(roleFile+" AccessDenied", "kubectl-get-configmap-aws-auth.eks-workshop Forbidden")}},
		"IPv6 without a way":                     {one("route/ipv6-no-egress", subnet), []change{noNode(), set(described, "cluster.kubernetesNetworkConfig", `{"ipFamily": "ipv6", "serviceIpv6Cidr": "fd12:3456:789a::/108"}`), inUserData("172.20.0.0/16", "fd12:3456:789a::/108"), changed("iam-get-policy-version.AmazonEKS_CNI_Policy", "ec2:AssignPrivateIpAddresses", "ec2:*")}},
		"NAT in another zone":                    {said{1, []string{"node/not-registered symptom", "route/cross-zone-nat advice"}, nil, ""}, []change{noNode(), set(subnets, "Subnets.SubnetId="+subnet+".AvailabilityZone", `"us-west-2b"`)}},
		"half of the fields are absent":          {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{noNode(), set(subnets, "Subnets.*.MapPublicIpOnLaunch", ""), set(subnets, "Subnets.*.Tags", ""), set(tables, "RouteTables.*.Tags", ""), set(instances, it+".PublicDnsName", ""), set(groups, "AutoScalingGroups.*.SuspendedProcesses", "")}},
		"a warm pool":                            {said{}, []change{noNode(), set(instances, it+".State", `{"Code": 80, "Name": "stopped"}`), set(groups, everyGroup+".WarmPoolConfiguration", `{"MinSize": 1, "PoolState": "Stopped"}`), set(groups, everyGroup+".Instances.0.LifecycleState", `"Warmed:Stopped"`)}},
		"kubectl printed an error":               {said{2, nil, nil, "node/not-registered"}, []change{with(nodes+".json", `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "nodes is forbidden", "reason": "Forbidden", "code": 403}`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}

const (
	plugin     = "kubectl-get-daemonset-aws-node.eks-workshop"
	interfaces = "ec2-describe-network-interfaces"
	left       = `{"NetworkInterfaceId": "eni-0dead", "SubnetId": "` + subnet + `", "VpcId": "vpc-0a1b2c3d4e5f60718", "OwnerId": "111122223333", "InterfaceType": "interface", "Status": "available", "Description": "aws-K8S-i-0dead00000000dead",
	"PrivateIpAddresses": [{"PrivateIpAddress": "10.42.192.60", "Primary": true}, {"PrivateIpAddress": "10.42.192.61"}, {"PrivateIpAddress": "10.42.192.62"}, {"PrivateIpAddress": "10.42.192.63"}, {"PrivateIpAddress": "10.42.192.64"}, {"PrivateIpAddress": "10.42.192.65"}, {"PrivateIpAddress": "10.42.192.66"}, {"PrivateIpAddress": "10.42.192.67"}, {"PrivateIpAddress": "10.42.192.68"}, {"PrivateIpAddress": "10.42.192.69"}],
	"TagSet": [{"Key": "node.k8s.amazonaws.com/instance_id", "Value": "i-0dead00000000dead"}, {"Key": "node.k8s.amazonaws.com/createdAt", "Value": "2026-11-20T11:02:00Z"}, {"Key": "cluster.k8s.amazonaws.com/name", "Value": "eks-workshop"}]}`
)

func setting(name, value string) change {
	return set(plugin, "spec.template.spec.containers.0.env.+", `{"name": "`+name+`", "value": "`+value+`"}`)
}

func freeAddresses(n string) change {
	return set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", n)
}

// mayGrow lets the new group launch more nodes.
func mayGrow(t *testing.T, dir string) {
	set(groups, "AutoScalingGroups.AutoScalingGroupName="+asg+".MaxSize", "3")(t, dir)
}

// TestAddresses holds what a capture tells of addresses: what it leaves out makes a
// healthy cluster unknown, but for what it may leave out.
func TestAddresses(t *testing.T) {
	well := said{}
	unknown := func(words string) said { return said{2, nil, nil, words} }
	const kept = "ec2-get-subnet-cidr-reservations."
	prefixes := setting("ENABLE_PREFIX_DELEGATION", "true")
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"no reservations":             {well, nil},
		"no reservations, prefixes":   {unknown("ip/fragmented eks-workshop: ec2:DescribeNetworkInterfaces: not read (what to ask for is in the subnet cidr reservations, which were not read (ec2:GetSubnetCidrReservations: not read))"), []change{prefixes}},
		"no interfaces":               {unknown("the capture has no ec2-describe-network-interfaces.json"), []change{without(interfaces + ".json")}},
		"the first page of them":      {unknown("ec2-describe-network-interfaces.json holds only the first page"), []change{set(interfaces, "NextToken", `"eyJ"`)}},
		"interfaces refused":          {unknown("ip/leaked-interfaces eks-workshop: ec2:DescribeNetworkInterfaces: denied"), []change{refused(interfaces + " UnauthorizedOperation")}},
		"reservations refused":        {unknown("what to ask for is in the subnet cidr reservations, which were not read"), []change{prefixes, refused(kept+subnet+" UnauthorizedOperation", kept+"subnet-0b20000000000000a UnauthorizedOperation", kept+"subnet-0b20000000000000b UnauthorizedOperation", kept+"subnet-0b20000000000000c UnauthorizedOperation")}},
		"a type nobody looked up":     {well, []change{set(groupFile, "nodegroup.instanceTypes", `["m6i.large"]`)}},
		"no ENIConfigs":               {well, []change{setting("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")}},
		"no ENIConfigs, and no node":  {said{2, []string{"node/not-registered symptom"}, nil, "ip/subnet-exhausted"}, []change{noNode(), setting("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")}},
		"the maximum does not fit":    {said{1, []string{"ip/scale-out-will-not-fit likely"}, []string{subnet, asg}, ""}, []change{freeAddresses("39"), mayGrow}},
		"it just fits":                {well, []change{freeAddresses("40"), mayGrow}},
		"few, and may grow":           {said{1, []string{"ip/subnet-exhausted likely"}, []string{subnet}, ""}, []change{freeAddresses("5"), mayGrow}},
		"few, at the maximum":         {said{0, []string{"ip/subnet-exhausted advice"}, []string{subnet}, ""}, []change{freeAddresses("5")}},
		"left behind":                 {one("ip/leaked-interfaces", subnet), []change{freeAddresses("0"), set(interfaces, "NetworkInterfaces.+", left)}},
		"left behind, and much free":  {said{0, []string{"ip/leaked-interfaces advice"}, []string{subnet}, ""}, []change{set(interfaces, "NetworkInterfaces.+", left)}},
		"interfaces that name nobody": {said{0, []string{"ip/leak-cause advice"}, nil, ""}, []change{changed(plugin, "CLUSTER_NAME", "CLUSTER")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}

// said is what must come out of a capture.
type said struct {
	status int
	// causes are the incidents in order, as "cause confidence".
	causes []string
	// names must be among the resources of the first.
	names []string
	// unknown must be in the reason or the check of an Unknown.
	unknown string
}

// tell runs a capture and holds what came out.
func tell(t *testing.T, want said, changes ...change) {
	t.Helper()
	r, status, errs := ask(t, folder(t, changes...))
	var causes []string
	for _, i := range r.Incidents {
		causes = append(causes, i.Cause+" "+i.Confidence)
	}
	if status != want.status || !slices.Equal(causes, want.causes) {
		t.Errorf("status %d, causes %q, want %d, %q\nunknown %+v\n%s", status, causes, want.status, want.causes, r.Unknown, errs)
	}
	for _, name := range want.names {
		if len(r.Incidents) == 0 || !slices.Contains(r.Incidents[0].Resources, name) {
			t.Errorf("the first incident does not name %s: %+v", name, r.Incidents)
		}
	}
	reasons := ""
	for _, u := range r.Unknown {
		reasons += u.Check + " " + u.Resource + ": " + u.Reason + "\n"
	}
	if !strings.Contains(reasons, want.unknown) || want.status == 0 && reasons != "" {
		t.Errorf("unknown %q, want %q in it", reasons, want.unknown)
	}
	if r.Healthy != (status == exit.Healthy) {
		t.Errorf("healthy %v with status %d", r.Healthy, status)
	}
}

func certain(causes ...string) []string {
	var all []string
	for _, c := range causes {
		all = append(all, c+" certain")
	}
	return all
}

// one is a single certain cause with the resources that it must name.
func one(cause string, names ...string) said { return said{1, certain(cause), names, ""} }

func likely(cause string, names ...string) said {
	return said{1, []string{cause + " likely"}, names, ""}
}

// endpointFor is an interface endpoint as the CLI prints it.
func endpointFor(service, state, dns, sg string) string {
	return `{"VpcEndpointId": "vpce-0` + strings.ReplaceAll(service, ".", "") + `", "VpcEndpointType": "Interface", "VpcId": "` + vpc + `", "ServiceName": "com.amazonaws.us-west-2.` + service + `", "State": "` + state + `",
	"PolicyDocument": "{\"Statement\":[{\"Action\":\"*\",\"Effect\":\"Allow\",\"Principal\":\"*\",\"Resource\":\"*\"}]}", "RouteTableIds": [], "SubnetIds": ["` + subnet + `"],
	"Groups": [{"GroupId": "` + sg + `", "GroupName": "x"}], "PrivateDnsEnabled": ` + dns + `, "RequesterManaged": false, "NetworkInterfaceIds": [], "OwnerId": "111122223333"}`
}

const s3Endpoint = `{"VpcEndpointId": "vpce-0s3", "VpcEndpointType": "Gateway", "VpcId": "` + vpc + `", "ServiceName": "com.amazonaws.us-west-2.s3", "State": "available",
	"PolicyDocument": "{\"Version\":\"2008-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"*\",\"Resource\":\"*\"}]}", "RouteTableIds": ["` + table + `"], "SubnetIds": [], "Groups": [], "PrivateDnsEnabled": false, "NetworkInterfaceIds": [], "OwnerId": "111122223333"}`

// isolated is a private cluster: no route to the internet, and endpoints for everything but
// what is left out.
func isolated(without ...string) change {
	return func(t *testing.T, dir string) {
		noWayOut()(t, dir)
		var list []string
		for _, s := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "eks", "eks-auth"} {
			if !slices.Contains(without, s) {
				list = append(list, endpointFor(s, "available", "true", group))
			}
		}
		if !slices.Contains(without, "s3") {
			list = append(list, s3Endpoint)
		}
		with("ec2-describe-vpc-endpoints.json", `{"VpcEndpoints": [`+strings.Join(list, ",")+`]}`)(t, dir)
		if !slices.Contains(without, "s3") {
			set(tables, route+".Routes.+", `{"DestinationPrefixListId": "pl-68a54001", "GatewayId": "vpce-0s3", "Origin": "CreateRoute", "State": "active"}`)(t, dir)
		}
	}
}

// TestEveryNetworkCheck breaks the healthy account once for every check of the
// network, as the CLI would print it.
func TestEveryNetworkCheck(t *testing.T) {
	row := route + ".Routes.1"
	closed := `{"GroupId": "sg-0closed", "GroupName": "closed", "VpcId": "` + vpc + `", "IpPermissions": [], "IpPermissionsEgress": []}`
	own := []change{
		set(instances, it+".SecurityGroups", `[{"GroupId": "sg-0closed", "GroupName": "closed"}]`),
		set(instances, it+".NetworkInterfaces.*.Groups", `[{"GroupId": "sg-0closed", "GroupName": "closed"}]`),
	}
	out := `"IpPermissionsEgress": [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}], "Ipv6Ranges": [], "PrefixListIds": [], "UserIdGroupPairs": []}]`
	open := strings.Replace(closed, `"IpPermissionsEgress": []`, out, 1)
	toGateway := set(tables, row, `{"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "`+gateway+`", "Origin": "CreateRoute", "State": "active"}`)
	entry := func(egress, from, to string) string {
		return `{"CidrBlock": "0.0.0.0/0", "Egress": ` + egress + `, "Protocol": "6", "PortRange": {"From": ` + from + `, "To": ` + to + `}, "RuleAction": "deny", "RuleNumber": 50}`
	}
	private := set(described, "cluster.resourcesVpcConfig.endpointPublicAccess", "false")
	only := []change{set(described, "cluster.resourcesVpcConfig.endpointPrivateAccess", "false"), set(described, "cluster.resourcesVpcConfig.publicAccessCidrs", `["198.51.100.7/32"]`)}
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"no egress":                 {one("route/no-egress", table, subnet), []change{noWayOut()}},
		"no egress by the main one": {one("route/no-egress", "rtb-0a700000000000001", subnet), []change{set(tables, route+".Associations", `[]`)}},
		"blackhole":                 {one("route/blackhole", table, subnet, nat), []change{set(tables, row+".State", `"blackhole"`), with(nats+".json", `{"NatGateways": []}`)}},
		"deleted NAT gateway":       {one("route/nat-unusable", table, nat), []change{set(tables, row+".State", `"blackhole"`), set(nats, "NatGateways.0.State", `"deleted"`)}},
		"failed NAT gateway":        {one("route/nat-unusable", nat), []change{set(nats, "NatGateways.0.State", `"failed"`), set(nats, "NatGateways.0.FailureCode", `"Gateway.NotAttached"`)}},
		"private NAT gateway":       {one("route/nat-unusable", nat), []change{set(nats, "NatGateways.0.ConnectivityType", `"private"`), set(nats, "NatGateways.0.NatGatewayAddresses.0.PublicIp", "")}},
		"NAT in a private subnet":   {one("route/nat-no-internet", nat, subnet), []change{set(nats, "NatGateways.0.SubnetId", `"`+subnet+`"`)}},
		"NAT without a gateway":     {one("route/nat-no-internet", nat, public), []change{set(tables, "RouteTables.RouteTableId="+public+".Routes", `[{"DestinationCidrBlock": "10.42.0.0/16", "GatewayId": "local", "Origin": "CreateRouteTable", "State": "active"}]`)}},
		"no public address":         {one("route/igw-no-public-ip", subnet, gateway), []change{toGateway}},
		"detached gateway":          {one("route/igw-detached", gateway, table), []change{toGateway, set(tables, row+".State", `"blackhole"`), set("ec2-describe-internet-gateways", "InternetGateways.0.Attachments", `[]`)}},
		"cidrs leave the NAT out":   {one("route/api-public-cidr", cluster, nat), only},
		"no NAT instance any more":  {one("route/blackhole", table), []change{set(tables, row, `{"DestinationCidrBlock": "0.0.0.0/0", "InstanceId": "i-0gone", "NetworkInterfaceId": "eni-0gone", "Origin": "CreateRoute", "State": "blackhole"}`)}},
		"endpoint missing":          {one("endpoint/missing", vpc), []change{isolated("ecr.api")}},
		"private and well":          {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{isolated(), private}},
		"endpoint group":            {one("endpoint/security-group", "vpce-0sts", "sg-0closed"), []change{with("ec2-describe-vpc-endpoints.json", `{"VpcEndpoints": [`+endpointFor("sts", "available", "true", "sg-0closed")+`]}`), set("ec2-describe-security-groups", "SecurityGroups.+", open)}},
		"endpoint private DNS off":  {likely("endpoint/private-dns-off", "vpce-0ecrapi"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ecrapi.PrivateDnsEnabled", "false")}},
		"endpoint pending":          {one("endpoint/not-available", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.State", `"pending"`)}},
		"endpoint in capitals":      {one("endpoint/not-available", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.State", `"PendingAcceptance"`)}},
		"S3 route missing":          {one("endpoint/s3-route-missing", "vpce-0s3", table), []change{isolated(), set(tables, route+".Routes", `[{"DestinationCidrBlock": "10.42.0.0/16", "GatewayId": "local", "Origin": "CreateRouteTable", "State": "active"}]`), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0s3.RouteTableIds", `[]`)}},
		"endpoint policy":           {likely("endpoint/policy-denies", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.PolicyDocument", `"{\"Statement\":[{\"Action\":\"s3:*\",\"Effect\":\"Allow\",\"Principal\":\"*\",\"Resource\":\"*\"}]}"`)}},
		"policy as an object":       {likely("endpoint/policy-denies", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.PolicyDocument", `{"Statement": [{"Action": "s3:*", "Effect": "Allow", "Principal": "*", "Resource": "*"}]}`)}},
		"node egress":               {said{1, certain("sg/node-egress", "sg/cluster-ingress"), []string{"sg-0closed"}, ""}, append(own, set("ec2-describe-security-groups", "SecurityGroups.+", closed))},
		"cluster ingress":           {one("sg/cluster-ingress", group), append(own, set("ec2-describe-security-groups", "SecurityGroups.+", open))},
		"network ACL out":           {one("nacl/egress", acl, subnet), []change{set("ec2-describe-network-acls", "NetworkAcls.0.Entries.+", entry("true", "443", "443"))}},
		"network ACL back":          {one("nacl/return", acl, subnet), []change{set("ec2-describe-network-acls", "NetworkAcls.0.Entries.+", entry("false", "1024", "65535"))}},
		"DNS support off":           {one("dns/support-off", vpc), []change{set("ec2-describe-vpc-attribute."+vpc+".enableDnsSupport", "EnableDnsSupport.Value", "false")}},
		"DNS hostnames off":         {likely("dns/hostnames-off", vpc), []change{private, set("ec2-describe-vpc-attribute."+vpc+".enableDnsHostnames", "EnableDnsHostnames.Value", "false")}},
		"DHCP with a long name":     {likely("dns/dhcp-options", dhcp), []change{set("ec2-describe-dhcp-options", "DhcpOptions.0.DhcpConfigurations.0.Values.0.Value", `"a.very.long.domain.name.of.a.company.that.likes.to.be.exact.example.com"`)}},
		"DHCP with name servers":    {likely("dns/dhcp-options", dhcp), []change{private, set("ec2-describe-dhcp-options", "DhcpOptions.0.DhcpConfigurations.1.Values.0.Value", `"10.42.0.53"`)}},
		"STS beside the interface":  {one("endpoint/missing", vpc), []change{isolated("sts")}},
		"leaves the view":           {said{2, []string{"node/not-registered symptom"}, nil, "tgw-0other"}, []change{set(tables, row, `{"DestinationCidrBlock": "0.0.0.0/0", "TransitGatewayId": "tgw-0other", "Origin": "CreateRoute", "State": "active"}`)}},
		"no subnet left":            {one("ip/subnet-exhausted", subnet), []change{set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "0"), notReady("cni plugin not initialized")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := tt.changes
			if name != "no subnet left" {
				changes = append([]change{noNode()}, changes...)
			}
			tell(t, tt.want, changes...)
		})
	}
}

// notReady makes the node of the instance one that is not Ready.
func notReady(message string) change {
	return edited(nodes, func(v any) {
		for _, n := range at(v, "items").([]any) {
			if !strings.HasSuffix(at(n, "spec", "providerID").(string), young) {
				continue
			}
			for _, c := range at(n, "status", "conditions").([]any) {
				if at(c, "type") == "Ready" {
					c := c.(map[string]any)
					c["status"], c["reason"], c["message"] = "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: "+message
				}
			}
		}
	})
}

// The healthy capture's names.
const (
	vpc     = "vpc-0a1b2c3d4e5f60718"
	nat     = "nat-0aa40000000000001"
	public  = "rtb-0a100000000000abc" // the table of the NAT gateway's subnet
	gateway = "igw-0d40000000000000e"
	group   = "sg-0e50000000000000f" // the cluster's
	acl     = "acl-0f60000000000000a"
	dhcp    = "dopt-0f1e2d3c4b5a69788"
	image   = "ami-0a1e2d3c4b5a69788"
	lt      = "lt-0ed5109b020ce2bcb"
	asg     = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	role    = "arn:aws:iam::111122223333:role/new_nodegroup_2"
	profile = "eks-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	cluster = "eks-workshop"

	instances  = "ec2-describe-instances"
	tables     = "ec2-describe-route-tables"
	subnets    = "ec2-describe-subnets"
	nats       = "ec2-describe-nat-gateways"
	groups     = "autoscaling-describe-auto-scaling-groups"
	activities = "autoscaling-describe-scaling-activities"
	described  = "eks-describe-cluster.eks-workshop"
	groupFile  = "eks-describe-nodegroup.eks-workshop.new_nodegroup_2"
	nodes      = "kubectl-get-nodes.eks-workshop"
	templates  = "ec2-describe-launch-template-versions"

	// it is the instance on which the tests work, route its table's.
	it    = "Reservations.*.Instances.InstanceId=" + young
	route = "RouteTables.RouteTableId=" + table
)

// set writes a value, as JSON, into a file. A path's parts are names, indices,
// "*" for all items, and "name=value" for the items that have it. "+" adds an
// item to a list. A value "" takes the member away.
func set(file, path, value string) change {
	return edited(file, func(v any) { put(v, strings.Split(path, "."), value) })
}

func put(v any, path []string, value string) {
	head, last := path[0], len(path) == 1
	switch v := v.(type) {
	case map[string]any:
		if last && value == "" {
			delete(v, head)
			return
		}
		if last {
			v[head] = parsed(value)
			return
		}
		if path[1] == "+" {
			list, _ := v[head].([]any)
			v[head] = append(list, parsed(value))
			return
		}
		if v[head] == nil {
			v[head] = map[string]any{}
		}
		put(v[head], path[1:], value)
	case []any:
		key, want, byValue := strings.Cut(head, "=")
		index, err := strconv.Atoi(head)
		for i, item := range v {
			if head != "*" && !(err == nil && i == index) && !(byValue && has(item, key, want)) {
				continue
			}
			if last {
				v[i] = parsed(value)
				continue
			}
			put(item, path[1:], value)
		}
	}
}

func has(item any, key, want string) bool {
	m, _ := item.(map[string]any)
	text, _ := m[key].(string)
	return text == want
}

func parsed(value string) any {
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		panic(value + ": " + err.Error())
	}
	return v
}

// cut takes the items of a list away that hold a text.
func cut(file, list, text string) change {
	return edited(file, func(v any) {
		m := v.(map[string]any)
		kept := []any{}
		for _, item := range m[list].([]any) {
			if raw, _ := json.Marshal(item); !strings.Contains(string(raw), text) {
				kept = append(kept, item)
			}
		}
		m[list] = kept
	})
}

// changed replaces a text in one file.
func changed(file, old, new string) change {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, file+".json")
		data := testfile.Read(t, path)
		if !strings.Contains(string(data), old) {
			t.Fatalf("%s does not hold %q", file, old)
		}
		with(file+".json", strings.ReplaceAll(string(data), old, new))(t, dir)
	}
}

// refused are calls that were refused, as "file code".
func refused(calls ...string) change {
	return func(t *testing.T, dir string) {
		all := map[string]any{}
		for _, c := range calls {
			file, code, _ := strings.Cut(c, " ")
			os.Remove(filepath.Join(dir, file+".json"))
			all[file] = map[string]string{"code": code, "message": "refused"}
		}
		raw := testfile.JSON(t, all)
		with("errors.json", string(raw))(t, dir)
	}
}

func wrote(text string) change {
	raw, _ := json.Marshal(map[string]string{"InstanceId": young, "Output": text, "Timestamp": "2026-11-20T15:04:00.000Z"})
	return with("ec2-get-console-output."+young+".json", string(raw))
}

// The nodegroup of the healthy capture on which the tests work.
const (
	young  = "i-052c0a5ba86c62d2c"
	subnet = "subnet-0c30000000000000d"
	table  = "rtb-0cd20000000000002"
	taken  = "2026-11-20T15:10:00Z"
)

// change is one step from the healthy capture to another one.
type change func(t *testing.T, dir string)

// folder makes a capture of the healthy one.
func folder(t *testing.T, changes ...change) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	healthy := filepath.Join(here(t), "testdata", "healthy")
	files, err := os.ReadDir(healthy)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// Linked, not copied, where that can be: what is changed is written as a new file.
	for _, f := range files {
		if err := os.Link(filepath.Join(healthy, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			if err := os.CopyFS(dir, os.DirFS(healthy)); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for _, c := range changes {
		c(t, dir)
	}
	return dir
}

// here is this package's folder, wherever the command has gone.
func here(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func without(names ...string) change {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func with(name, text string) change {
	return func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		testfile.Write(t, filepath.Join(dir, name), []byte(text))
	}
}

// edited changes what a file holds.
func edited(name string, edit func(v any)) change {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name+".json")
		data := testfile.Read(t, path)
		var v any
		testfile.Parse(t, data, &v)
		edit(v)
		with(name+".json", string(testfile.JSON(t, v)))(t, dir)
	}
}

// replaced changes a text in all files and in their names.
func replaced(old, new string) change {
	return func(t *testing.T, dir string) {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			data := testfile.Read(t, path)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			with(strings.ReplaceAll(filepath.Base(path), old, new), strings.ReplaceAll(string(data), old, new))(t, dir)
		}
	}
}

// at goes down a tree.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

// noNode takes the node of the young instance away.
func noNode() change {
	return edited("kubectl-get-nodes.eks-workshop", func(v any) {
		list := v.(map[string]any)
		var kept []any
		for _, n := range at(v, "items").([]any) {
			if !strings.HasSuffix(at(n, "spec", "providerID").(string), young) {
				kept = append(kept, n)
			}
		}
		list["items"] = kept
	})
}

// noWayOut takes the default route of the young instance's subnet away.
func noWayOut() change {
	return edited("ec2-describe-route-tables", func(v any) {
		for _, rt := range at(v, "RouteTables").([]any) {
			if at(rt, "RouteTableId") == table {
				rt.(map[string]any)["Routes"] = at(rt, "Routes").([]any)[:1]
			}
		}
	})
}

// launched changes when the young instance was launched.
func launched(when any) change {
	return edited("ec2-describe-instances", func(v any) {
		for _, r := range at(v, "Reservations").([]any) {
			for _, in := range at(r, "Instances").([]any) {
				if at(in, "InstanceId") == young {
					in.(map[string]any)["LaunchTime"] = when
				}
			}
		}
	})
}

// running is the event of the young instance.
func running(when string) change {
	return with("event.json", `{"version": "0", "id": "7bf73129-1428-4cd3-a780-95db273d1602", "detail-type": "EC2 Instance State-change Notification",
  "source": "aws.ec2", "account": "111122223333", "time": "`+when+`", "region": "us-west-2",
  "resources": ["arn:aws:ec2:us-west-2:111122223333:instance/`+young+`"], "detail": {"instance-id": "`+young+`", "state": "running"}}`)
}

const everyGroup = "AutoScalingGroups.AutoScalingGroupName=" + asg

// failedLaunch is an activity that failed at a time, in a subnet.
func failedLaunch(id, when, where, message string) change {
	return set(activities, "Activities.+", `{"ActivityId": "`+id+`", "AutoScalingGroupName": "`+asg+`", "Description": "Launching a new EC2 instance.  Status Reason: `+message+`",
	"Cause": "At 2026-11-20T14:58:10Z an instance was started in response to a difference between desired and actual capacity, increasing the capacity from 0 to 1.", "StartTime": "`+when+`", "EndTime": "`+when+`",
	"StatusCode": "Failed", "StatusMessage": "`+message+`", "Progress": 100, "Details": "{\"Subnet ID\":\"`+where+`\",\"Availability Zone\":\"us-west-2a\"}"}`)
}

const noCapacity = "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Our system will be working on provisioning additional capacity. Launching EC2 instance failed."

// noInstance is a group whose instance was never launched.
func noInstance(t *testing.T, dir string) {
	noNode()(t, dir)
	with(activities+".json", `{"Activities": []}`)(t, dir)
	cut(instances, "Reservations", young)(t, dir)
	cut(statuses, "InstanceStatuses", young)(t, dir)
	set(groups, everyGroup+".Instances", `[]`)(t, dir)
}

// ended makes the instance a terminated one, as EC2 describes it: no subnet,
// no VPC, no interfaces, no groups.
func ended(when, code, message string) change {
	return edited(instances, func(v any) {
		for _, r := range at(v, "Reservations").([]any) {
			for _, in := range at(r, "Instances").([]any) {
				if at(in, "InstanceId") != young {
					continue
				}
				in := in.(map[string]any)
				for _, gone := range []string{"SubnetId", "VpcId", "PrivateIpAddress", "IamInstanceProfile", "MetadataOptions", "SourceDestCheck"} {
					delete(in, gone)
				}
				in["NetworkInterfaces"], in["SecurityGroups"], in["PrivateDnsName"] = []any{}, []any{}, ""
				in["State"] = map[string]any{"Code": 48, "Name": "terminated"}
				in["StateReason"] = map[string]any{"Code": code, "Message": message}
				in["StateTransitionReason"] = "User initiated (" + when + ")"
			}
		}
	})
}

// terminating is the activity that ended the instance.
func terminating(when, cause string) change {
	return set(activities, "Activities.+", `{"ActivityId": "term-1", "AutoScalingGroupName": "`+asg+`", "Description": "Terminating EC2 instance: `+young+`", "Cause": "`+cause+`",
	"StartTime": "`+when+`", "EndTime": "`+when+`", "StatusCode": "Successful", "Progress": 100, "Details": "{\"Subnet ID\":\"`+subnet+`\",\"Availability Zone\":\"us-west-2a\"}"}`)
}

func nodeEvent(reason, when string) change {
	return set("kubectl-get-events.eks-workshop", "items.+", `{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1", "namespace": "default"}, "involvedObject": {"kind": "Node", "name": "ip-10-42-192-4.us-west-2.compute.internal", "uid": "x"}, "reason": "`+reason+`", "message": "m", "type": "Normal", "count": 1, "firstTimestamp": "`+when+`", "lastTimestamp": "`+when+`"}`)
}

// TestLaunches holds the rules for launches and for instances that ended.
func TestLaunches(t *testing.T) {
	const soon, late = "2026-11-20T15:05:00.000Z", "2026-11-20T13:30:00.000Z"
	succeeded := func(when, where string) change {
		return set(activities, "Activities.+", `{"ActivityId": "ok-1", "AutoScalingGroupName": "`+asg+`", "Description": "Launching a new EC2 instance: i-0ok", "Cause": "c", "StartTime": "`+when+`", "EndTime": "`+when+`", "StatusCode": "Successful", "Progress": 100, "Details": "{\"Subnet ID\":\"`+where+`\",\"Availability Zone\":\"us-west-2a\"}"}`)
	}
	well := said{}
	const client = "Client.UserInitiatedShutdown"
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"capacity":                        {one("launch/insufficient-capacity", asg, subnet), []change{noInstance, failedLaunch("f1", soon, subnet, noCapacity)}},
		"capacity, long ago":              {well, []change{noInstance, failedLaunch("f1", late, subnet, noCapacity)}},
		"then succeeded there":            {well, []change{noInstance, failedLaunch("f1", soon, subnet, noCapacity), succeeded("2026-11-20T15:07:00.000Z", subnet)}},
		"then succeeded elsewhere":        {one("launch/insufficient-capacity", asg), []change{noInstance, failedLaunch("f1", soon, subnet, noCapacity), succeeded("2026-11-20T15:07:00.000Z", "subnet-0b20000000000000b")}},
		"succeeded before":                {one("launch/insufficient-capacity", asg), []change{noInstance, succeeded("2026-11-20T15:01:00.000Z", subnet), failedLaunch("f1", soon, subnet, noCapacity)}},
		"subnet full":                     {one("launch/subnet-full", asg, subnet), []change{noInstance, set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "0"), failedLaunch("f1", soon, subnet, "There are not enough free addresses in subnet '"+subnet+"' to satisfy the requested number of instances. Launching EC2 instance failed.")}},
		"a subnet without addresses":      {one("ip/subnet-exhausted", subnet), []change{set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "0")}},
		"a subnet with few addresses":     {said{0, []string{"ip/subnet-exhausted advice"}, []string{subnet}, ""}, []change{set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "4")}},
		"AMI gone":                        {one("launch/ami", asg, image), []change{noInstance, failedLaunch("f1", soon, subnet, "The image id '["+image+"]' does not exist. Launching EC2 instance failed."), with("ec2-get-allowed-images-settings.json", `{"State": "disabled", "ManagedBy": "account"}`)}},
		"AMI gone, or hidden by settings": {likely("launch/ami", asg, image), []change{noInstance, failedLaunch("f1", soon, subnet, "The image id '["+image+"]' does not exist. Launching EC2 instance failed.")}},
		"key":                             {one("launch/template", asg, lt), []change{noInstance, failedLaunch("f1", soon, subnet, "The key pair 'ops' does not exist. Launching EC2 instance failed.")}},
		"security group":                  {one("launch/security-group", "sg-0123456789abcdef0"), []change{noInstance, failedLaunch("f1", soon, subnet, "The security group 'sg-0123456789abcdef0' does not exist. Launching EC2 instance failed.")}},
		"profile":                         {one("launch/profile", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "Invalid IAM Instance Profile name (nodes). Launching EC2 instance failed.")}},
		"KMS key":                         {one("launch/kms-key", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state")}},
		"Spot":                            {one("launch/spot-limit", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded. Launching EC2 instance failed.")}},
		"nobody knows":                    {one("launch/unclassified", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "The moon is in the wrong house.")}},
		"suspended":                       {one("launch/suspended", asg), []change{noInstance, set(groups, everyGroup+".SuspendedProcesses", `[{"ProcessName": "Launch", "SuspensionReason": "User suspended at 2026-11-20T14:00:00Z"}]`)}},
		"suspended with nothing to do":    {well, []change{set(groups, everyGroup+".SuspendedProcesses", `[{"ProcessName": "Launch", "SuspensionReason": "User suspended at 2026-11-20T14:00:00Z"}]`)}},
		"add-on degraded":                 {one("addon/degraded", "vpc-cni"), []change{set("eks-describe-addon.eks-workshop.vpc-cni", "addon.status", `"DEGRADED"`), set("eks-describe-addon.eks-workshop.vpc-cni", "addon.health.issues", `[{"code": "AccessDenied", "message": "no", "resourceIds": []}]`)}},
		"cluster unwell":                  {one("cluster/health", cluster), []change{set(described, "cluster.health", `{"issues": [{"code": "Ec2SubnetNotFound", "message": "subnet gone", "resourceIds": ["subnet-0gone"]}]}`)}},
		"cluster failed":                  {one("cluster/health", cluster), []change{set(described, "cluster.status", `"FAILED"`)}},
		"nodegroups file missing":         {said{2, nil, nil, "nodegroup/health"}, []change{without("eks-list-nodegroups.eks-workshop.json")}},
		"activities missing":              {said{2, nil, nil, "the capture has no autoscaling-describe-scaling-activities.json"}, []change{without(activities + ".json")}},
		"activities refused":              {said{2, nil, nil, "autoscaling:DescribeScalingActivities: denied"}, []change{refused(activities + " AccessDenied")}},
		"add-ons refused":                 {said{2, nil, nil, "addon/degraded"}, []change{refused("eks-list-addons.eks-workshop AccessDeniedException")}},
		"groups missing":                  {said{2, nil, nil, "launch/"}, []change{without(groups + ".json")}},
		"subnets missing":                 {said{2, nil, nil, "ip/subnet-exhausted"}, []change{without(subnets + ".json")}},
		"instances missing":               {said{2, nil, nil, "DescribeInstances"}, []change{without(instances + ".json")}},
		"cluster missing":                 {said{2, nil, nil, "DescribeCluster"}, []change{without(described + ".json")}},
		"reclaimed":                       {said{0, []string{"spot/reclaimed-before-join advice"}, []string{"new_nodegroup_2"}, ""}, []change{noNode(), ended("2026-11-20 15:00:10 GMT", "Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination")}},
		"scaled in":                       {well, []change{noNode(), ended("2026-11-20 15:00:10 GMT", client, client), terminating("2026-11-20T15:00:00.000Z", "At 2026-11-20T14:59:55Z a user request explicitly set group desired capacity changing the desired capacity from 1 to 0.  At 2026-11-20T15:00:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")}},
		"scaled in later":                 {well, []change{noNode(), ended("2026-11-20 15:08:10 GMT", client, client), terminating("2026-11-20T15:08:00.000Z", "At 2026-11-20T15:08:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")}},
		"ended by a person, late":         {said{1, []string{"instance/ended-early likely"}, []string{young}, ""}, []change{noNode(), ended("2026-11-20 15:08:10 GMT", client, client)}},
		"ended by a person":               {one("instance/ended-early", young), []change{noNode(), ended("2026-11-20 15:00:10 GMT", client, client)}},
		"had joined by events":            {well, []change{noNode(), ended("2026-11-20 15:08:10 GMT", "Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), nodeEvent("RegisteredNode", "2026-11-20T15:00:00Z"), set(instances, it+".PrivateDnsName", `"ip-10-42-192-4.us-west-2.compute.internal"`)}},
		"unhealthy, only terminating":     {well, []change{noNode(), ended("2026-11-20 15:08:10 GMT", client, client), terminating("2026-11-20T15:08:00.000Z", "At 2026-11-20T15:08:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")}},
		"KMS key, told by the instance":   {one("launch/kms-key", asg), []change{noNode(), ended("2026-11-20 14:58:20 GMT", "Client.InvalidKMSKey.InvalidState", "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"), with(activities+".json", `{"Activities": []}`)}},
		"internal error":                  {one("launch/kms-key", asg), []change{noNode(), ended("2026-11-20 14:58:20 GMT", "Client.InternalError", "Client.InternalError: Client error on launch"), with(activities+".json", `{"Activities": []}`)}},
		"two faults":                      {said{1, certain("route/no-egress", "launch/insufficient-capacity"), []string{table}, ""}, []change{noNode(), noWayOut(), failedLaunch("f1", soon, "subnet-0b20000000000000a", noCapacity)}},
		"failed activity by event of old": {well, []change{noInstance, with("event.json", strings.ReplaceAll(launchFailed, "TIME", "2026-11-20T13:00:00Z"))}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}

// launchFailedNow is the same event of minutes ago.
func launchFailedNow() string {
	return strings.ReplaceAll(launchFailed, "TIME", "2026-11-20T15:05:00Z")
}

// launchFailed is the event of a failed launch.
const launchFailed = `{"version": "0", "id": "468fe059-f4b7-445f-bb22-2a271b94974d", "detail-type": "EC2 Instance Launch Unsuccessful", "source": "aws.autoscaling", "account": "111122223333", "time": "TIME", "region": "us-west-2",
"resources": ["arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup:3899141e-68ab-37b5-0ea6-485246433f29:autoScalingGroupName/` + asg + `"],
"detail": {"Origin": "EC2", "Destination": "AutoScalingGroup", "StatusCode": "Failed", "AutoScalingGroupName": "` + asg + `", "ActivityId": "1cabc0a2", "Details": {"Availability Zone": "us-west-2a", "Subnet ID": "` + subnet + `"}, "RequestId": "1cabc0a2", "StatusMessage": "` + noCapacity + `", "EndTime": "TIME", "EC2InstanceId": "", "StartTime": "TIME", "Cause": "c"}}`

// TestLiveAsTheFunctions: over the worlds of the corpus, each behind real ports, the
// command says the same as the functions: the first cause, and all causes. In make test
// each sixtieth world is played, of most families of checks one: that the two ways go
// through the same engine shows in any of them.
func TestLiveAsTheFunctions(t *testing.T) {
	worlds, err := filepath.Glob(filepath.Join("..", "..", "stage", "worlds", "corpus", "*.yaml"))
	if err != nil || len(worlds) < 300 {
		t.Fatalf("%d worlds, %v", len(worlds), err)
	}
	step := testfull.Count(1, 60)
	for i := 0; i < len(worlds); i += step {
		name := strings.TrimSuffix(filepath.Base(worlds[i]), ".yaml")
		t.Run(name, func(t *testing.T) {
			want, err := Examine(t.Context(), subject.Subject{Path: worlds[i]}, examine.Worlds{}, io.Discard)
			if err != nil {
				if name == "unseen" { // a list, no world
					return
				}
				t.Fatal(err)
			}
			s, at := callertest.Serve(t, worlds[i], examine.Settled)
			callertest.LogIn(t, s)
			got := lookedAt(t, s, Live{At: at, All: true})
			if diff := cmp.Diff(causesOf(want), causesOf(got)); diff != "" || want.Healthy != got.Healthy {
				t.Errorf("(-functions +live), healthy %v and %v:\n%s\nlive: %+v", want.Healthy, got.Healthy, diff, got.Unknown)
			}
		})
	}
}

// lookedAt is what is said of the stage as it is. Worlds of the corpus tell endpoints
// of clusters as AWS has them: what is there instead the stage knows.
func lookedAt(t *testing.T, s *stage.Stage, of Live) result.Result {
	t.Helper()
	a := NewAccount(of)
	if err := a.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range a.clusters {
		if endpoint, ca, ok := s.Cloud.Kubernetes(c.Name); ok {
			via, err := kube.Transport(ca)
			if err != nil {
				t.Fatal(err)
			}
			a.servers[c.Name] = caller.APIServer{Endpoint: endpoint, CA: ca, Transport: via}
		}
	}
	r, _, err := a.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A cluster that cannot be reached, or that does not know the caller, is reported as that;
// what AWS alone tells is reported all the same.
func TestLiveWithoutKubernetes(t *testing.T) {
	s, at := callertest.Serve(t, filepath.Join("..", "..", "stage", "worlds", "route-blackhole.yaml"), examine.Settled)
	callertest.LogIn(t, s)
	stranger := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"kind": "Status", "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}`)
	}))
	defer stranger.Close()
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: stranger.Certificate().Raw})
	for name, tt := range map[string]struct{ endpoint, unknown, note string }{
		"nobody answers":  {"https://127.0.0.1:1", "kubernetes: list nodes: unreachable (no connection)", ""},
		"nobody knows us": {stranger.URL, "kubernetes: list nodes: denied (Unauthorized: Unauthorized)", "what Kubernetes has of eks-workshop: it does not know arn:aws:iam::111122223333:user/"},
	} {
		t.Run(name, func(t *testing.T) {
			via, err := kube.Transport(ca)
			if err != nil {
				t.Fatal(err)
			}
			a := NewAccount(Live{At: at, Clusters: []string{cluster}})
			if err := a.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			a.servers[cluster] = caller.APIServer{Endpoint: tt.endpoint, CA: ca, Transport: via}
			r, _, err := a.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Status() != exit.Causes || !strings.HasPrefix(first(r), "route/blackhole") || !slices.ContainsFunc(r.Unknown, func(u result.Unknown) bool { return u.Check == "node/not-registered" && u.Reason == tt.unknown }) {
				t.Errorf("status %d, first %s, unknown %+v, want %q", r.Status(), first(r), r.Unknown, tt.unknown)
			}
			if got := strings.Join(r.Notes[1:], "\n"); !strings.HasPrefix(got, tt.note) || tt.note == "" && got != "" {
				t.Errorf("notes %q, want %q", got, tt.note)
			}
		})
	}
}

// causesOf are the first cause, and all others in any order.
func causesOf(r result.Result) []string {
	var all []string
	for _, i := range r.Incidents {
		all = append(all, strings.Join([]string{i.Cause, i.Confidence, i.Cluster, strings.Join(i.Instances, " ")}, " / "))
	}
	if len(all) > 1 {
		slices.Sort(all[1:])
	}
	return all
}
