package diagnose

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"rollcall/command/capture"
	"rollcall/command/capture/mask"
	"rollcall/command/capture/take"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/command/subject"
	"rollcall/shared/evidence"
	"rollcall/stage"
	"rollcall/stage/examine"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/expect"
	"rollcall/tools/testfull"
)

// replay gives the answers of a look again to later ones: the accounts of tests stand still,
// so that the same question has the same answer, and most of the time of a look is spent on
// writing and reading answers.
type replay struct {
	of subject.Account
	// fresh reports whether a call, an operation with its input or the path of a list of
	// Kubernetes objects, has another answer now, which is not kept.
	fresh func(call string, in any) bool
	kept  *keptAnswers
}

type keptAnswers struct {
	mu      sync.Mutex
	answers map[string]*keptAnswer
}

// keptAnswer is the answer to an AWS call, or that to a request to a cluster.
type keptAnswer struct {
	service  string // "ec2:", of an AWS call
	call     string
	request  *http.Request // to a cluster
	in, out  any
	err      error
	written  []byte
	response *http.Response
}

func newReplay(of subject.Account, fresh func(call string, in any) bool) *replay {
	return &replay{of, fresh, &keptAnswers{answers: map[string]*keptAnswer{}}}
}

// with is the replay for an account that differs in some answers.
func (r *replay) with(of subject.Account, fresh func(call string, in any) bool) *replay {
	return &replay{of, fresh, r.kept}
}

func (k *keptAnswers) get(key string) (*keptAnswer, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, ok := k.answers[key]
	return a, ok
}

func (k *keptAnswers) keep(key string, a *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers[key] = a
}

// open is the account, as it is read.
func (r *replay) open() subject.Account {
	o := r.of
	o.AWS.APIOptions = append(slices.Clone(o.AWS.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Replay", r.answer), middleware.After)
	})
	o.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) {
		endpoint, ca, via, ok := r.of.Endpoints(cluster)
		return endpoint, ca, replayed{r, cluster, via}, ok
	}
	return o
}

// presigned is the operation that is signed for another caller as well as called.
const presigned = "GetCallerIdentity"

func (r *replay) answer(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	call := awsmiddleware.GetOperationName(ctx)
	if call == presigned || r.fresh(call, in.Parameters) {
		return next.HandleInitialize(ctx, in)
	}
	asked, err := json.Marshal(in.Parameters)
	if err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	key := awsmiddleware.GetServiceID(ctx) + "." + call + string(asked)
	if a, ok := r.kept.get(key); ok && !handedOn(in.Parameters) {
		return middleware.InitializeOutput{Result: a.out}, middleware.Metadata{}, a.err
	}
	out, meta, err := next.HandleInitialize(ctx, in)
	if ctx.Err() != nil {
		return out, meta, err
	}
	a := &keptAnswer{service: strings.TrimSuffix(evidence.Call(ctx), call), call: call, in: in.Parameters, out: out.Result, err: err}
	if a.written, err = json.Marshal(a.out); err != nil {
		return out, meta, err
	}
	r.kept.keep(key, a)
	return out, meta, a.err
}

// handedOn reports whether the answer to a call goes past the middleware: package awscall
// has its callers read it.
func handedOn(in any) bool {
	t := reflect.TypeOf(in)
	return t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), "github.com/aws/aws-sdk-go-v2/")
}

// replayed is the way to a cluster's API.
type replayed struct {
	of      *replay
	cluster string
	via     http.RoundTripper
}

func (w replayed) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.of.fresh(req.URL.Path, w.cluster) {
		return w.via.RoundTrip(req)
	}
	key := w.cluster + " " + req.Method + " " + req.URL.RequestURI()
	a, ok := w.of.kept.get(key)
	if !ok {
		response, err := w.via.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, err
		}
		a = &keptAnswer{call: req.URL.Path, request: req, in: w.cluster, written: body, response: response}
		w.of.kept.keep(key, a)
	}
	again := *a.response
	again.Header, again.Request, again.Body = a.response.Header.Clone(), req, io.NopCloser(bytes.NewReader(a.written))
	return &again, nil
}

// unwritten holds that no reader has changed an answer that others get, too.
func (r *replay) unwritten(t *testing.T) {
	t.Helper()
	for key, a := range r.kept.answers {
		if a.response != nil {
			continue
		}
		if now, err := json.Marshal(a.out); err != nil || !bytes.Equal(now, a.written) {
			t.Errorf("the answer to %s was changed by its reader, %v", key, err)
		}
	}
}

// asked is what a look at a capture asked for, and what the capture answers.
type asked struct {
	calls   []*keptAnswer
	answers []any
}

// asked returns what was asked for so far.
func (r *replay) asked(c *capture.Capture) asked {
	list := asked{}
	for _, a := range r.kept.answers {
		list.calls = append(list.calls, a)
	}
	for _, a := range list.calls {
		list.answers = append(list.answers, directly(c, a))
	}
	return list
}

// changes are the calls to which a capture that lacks files has another answer.
type changes struct {
	any   bool
	calls map[string]bool
}

func (c changes) call(call string, in any) bool { return c.calls[call] }

// changed compares what two captures answer to what was asked. Where they do not differ, a
// look at the one is a look at the other.
func (l asked) changed(full, less *capture.Capture, kind string) changes {
	of := changes{calls: map[string]bool{}}
	of.any = full.Account != less.Account || full.Region != less.Region || !slices.Equal(full.Clusters, less.Clusters) ||
		!slices.Equal(full.LogGroups(), less.LogGroups()) || !reflect.DeepEqual(full.LaunchCalls(), less.LaunchCalls())
	for _, cluster := range full.Clusters {
		of.any = of.any || full.Bare(cluster) != less.Bare(cluster)
	}
	for i, a := range l.calls {
		if a.response != nil && !strings.HasPrefix(kind, "kubectl-get-") {
			continue // objects are read of no other files
		}
		if !reflect.DeepEqual(l.answers[i], directly(less, a)) {
			of.any, of.calls[a.call] = true, true
		}
	}
	return of
}

// directly is what a capture answers to a call or to a request for Kubernetes objects, without
// a look.
func directly(c *capture.Capture, a *keptAnswer) any {
	type answer struct{ out, err any }
	if a.request == nil {
		out, err := c.Answer(a.service+a.call, a.in)
		return answer{out, err}
	}
	_, _, via, _ := c.Endpoints(a.in.(string))
	response, err := via.RoundTrip(a.request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{string(body), err}
}

const (
	roleFile    = "iam-get-role.new_nodegroup_2"
	profileFile = "iam-get-instance-profile." + profile
	entryFile   = "eks-describe-access-entry.eks-workshop.new_nodegroup_2"
	attached    = "iam-list-attached-role-policies.new_nodegroup_2"
	configMap   = "kubectl-get-configmap-aws-auth.eks-workshop"
	images      = "ec2-describe-images"
	statuses    = "ec2-describe-instance-status"
)

// userData is what describe-instance-attribute prints of the instance.
func userData(text string) change {
	data := base64.StdEncoding.EncodeToString([]byte(text))
	return func(t *testing.T, dir string) {
		with("ec2-describe-instance-attribute."+young+".userData.json", `{"InstanceId": "`+young+`", "UserData": {"Value": "`+data+`"}}`)(t, dir)
		set(templates, "LaunchTemplateVersions.LaunchTemplateId="+lt+".LaunchTemplateData.UserData", `"`+data+`"`)(t, dir)
	}
}

// inUserData changes a text in the user data that the fixture has.
func inUserData(old, new string) change {
	return func(t *testing.T, dir string) {
		var text string
		edited(templates, func(v any) {
			for _, x := range at(v, "LaunchTemplateVersions").([]any) {
				if at(x, "LaunchTemplateId") == lt {
					raw, err := base64.StdEncoding.DecodeString(at(x, "LaunchTemplateData", "UserData").(string))
					expect.OK(t, err)
					text = string(raw)
				}
			}
		})(t, dir)
		if !strings.Contains(text, old) {
			t.Fatalf("user data %q does not hold %q", text, old)
		}
		userData(strings.ReplaceAll(text, old, new))(t, dir)
	}
}

// mapped is a cluster that knows its nodes by aws-auth alone.
func mapped(roles string) change {
	return func(t *testing.T, dir string) {
		set(described, "cluster.accessConfig.authenticationMode", `"CONFIG_MAP"`)(t, dir)
		text := strings.ReplaceAll(strings.ReplaceAll(roles, "\n", `\n`), "\"", `\"`)
		set(configMap, "data.mapRoles", `"`+text+`"`)(t, dir)
		for _, f := range []string{"eks-list-access-entries.eks-workshop", entryFile, "eks-describe-access-entry.eks-workshop.eksctl-eks-workshop-NodeInstanceRole"} {
			without(f+".json")(t, dir)
		}
		refused("eks-list-access-entries.eks-workshop InvalidRequestException")(t, dir)
	}
}

func mapping(arn, user string) string {
	return "- rolearn: " + arn + "\n  username: " + user + "\n  groups:\n  - system:bootstrappers\n  - system:nodes\n"
}

const nodeUser = "system:node:{{EC2PrivateDNSName}}"

// TestEveryMachineCheck breaks roles, access and instances.
func TestEveryMachineCheck(t *testing.T) {
	other := "arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole"
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"no profile":             {one("iam/profile-missing", young), []change{set(instances, it+".IamInstanceProfile", "")}},
		"profile without role":   {one("iam/profile-missing"), []change{set(profileFile, "InstanceProfile.Roles", `[]`)}},
		"profile deleted":        {one("iam/profile-missing"), []change{refused(profileFile + " NoSuchEntity")}},
		"role deleted":           {one("iam/profile-missing", role), []change{refused(roleFile+" NoSuchEntity", attached+" NoSuchEntity", "iam-list-role-policies.new_nodegroup_2 NoSuchEntity")}},
		"no worker policy":       {likely("iam/role-policies", role), []change{cut(attached, "AttachedPolicies", "ContainerRegistry")}},
		"trust":                  {one("iam/role-trust", role), []change{set(roleFile, "Role.AssumeRolePolicyDocument.Statement.0.Principal.Service", `"eks.amazonaws.com"`)}},
		"trust in URL encoding":  {one("iam/role-trust", role), []change{set(roleFile, "Role.AssumeRolePolicyDocument", `"%7B%22Statement%22%3A%5B%7B%22Action%22%3A%22sts%3AAssumeRole%22%2C%22Effect%22%3A%22Allow%22%2C%22Principal%22%3A%7B%22Service%22%3A%22lambda.amazonaws.com%22%7D%7D%5D%7D"`)}},
		"no entry":               {one("iam/access-missing", role), []change{set(described, "cluster.accessConfig.authenticationMode", `"API"`), cutName("eks-list-access-entries.eks-workshop", "accessEntries", "new_nodegroup_2"), without(entryFile + ".json")}},
		"entry refused as gone":  {one("iam/access-missing", role), []change{set(described, "cluster.accessConfig.authenticationMode", `"API"`), cutName("eks-list-access-entries.eks-workshop", "accessEntries", "new_nodegroup_2"), refused(entryFile + " ResourceNotFoundException")}},
		"entry of another type":  {one("iam/access-wrong-type", role), []change{set(entryFile, "accessEntry.type", `"STANDARD"`), set(entryFile, "accessEntry.kubernetesGroups", `[]`), set(entryFile, "accessEntry.username", `"arn:aws:sts::111122223333:assumed-role/new_nodegroup_2/{{SessionName}}"`)}},
		"not in aws-auth":        {one("iam/access-missing", role), []change{mapped(mapping(other, nodeUser))}},
		"no aws-auth at all":     {one("iam/access-missing", role), []change{mapped(""), refusedToo(configMap + " NotFound")}},
		"in aws-auth":            {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{mapped(mapping(other, nodeUser) + mapping(role, nodeUser))}},
		"the profile's ARN":      {one("iam/access-wrong-arn"), []change{mapped(mapping(other, nodeUser) + mapping("arn:aws:iam::111122223333:instance-profile/"+profile, nodeUser))}},
		"aws-auth broken":        {one("iam/aws-auth-invalid"), []change{mapped("- rolearn: [" + role + "\n  username: x\n groups: -")}},
		"aws-auth twice":         {likely("iam/access-duplicate-mapping", role), []change{mapped(mapping(role, "admin") + mapping(role, nodeUser))}},
		"no CNI policy":          {likely("iam/role-policies", role), []change{cut(attached, "AttachedPolicies", "CNI"), cniFails}},
		"STS off":                {one("iam/sts-region-deactivated"), []change{wrote("[    0.0] Linux version 6\n[   11.0] cloud-init[1]: nodeadm: operation error STS: GetCallerIdentity, https response error StatusCode: 403, api error RegionDisabledException: STS is not activated in this region for account:111122223333. Your account administrator can activate STS in this region using the IAM Console.\n")}},
		"wrong cluster":          {one("instance/user-data", lt), []change{inUserData("name: eks-workshop", "name: eks-wrkshop")}},
		"wrong endpoint":         {one("instance/user-data", lt), []change{inUserData("0123456789ABCDEF0123456789ABCDEF", "D5E11EBFCBD8AF710C5793CEC35243E1")}},
		"a forbidden label":      {one("instance/forbidden-node-label"), []change{set(groupFile, "nodegroup.labels", `{"node-role.kubernetes.io/worker": "true"}`)}},
		"metadata off":           {one("instance/imds", young), []change{set(instances, it+".MetadataOptions.HttpEndpoint", `"disabled"`)}},
		"no cluster tag":         {likely("instance/cluster-tag", young), []change{selfManaged()}},
		"no cluster tag, by ASG": {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{selfManagedWith(`{"Key": "kubernetes.io/cluster/eks-workshop", "Value": "owned"}`)}},
		"AMI of another version": {one("instance/version-skew", cluster), []change{set(images, "Images.0.Name", `"amazon-eks-node-al2023-x86_64-standard-1.36-v20261112"`), set(groupFile, "nodegroup.amiType", `"CUSTOM"`)}},
		"AMI for ARM":            {likely("instance/ami", image), []change{set(images, "Images.0.Architecture", `"arm64"`)}},
		"status impaired":        {likely("instance/status-check", young), []change{set(statuses, "InstanceStatuses.InstanceId="+young+".InstanceStatus.Status", `"impaired"`)}},
		"retirement":             {likely("instance/scheduled-event", young), []change{set(statuses, "InstanceStatuses.InstanceId="+young+".Events", `[{"InstanceEventId": "instance-event-0d59937288b749b32", "Code": "instance-retirement", "Description": "The instance is running on degraded hardware", "NotBefore": "2026-11-20T16:00:00.000Z"}]`)}},
		"console: unauthorized":  {one("instance/console-error", "new_nodegroup_2"), []change{wrote("[    0.0] Linux version 6\n" + strings.Repeat("[   20.1] kubelet[1800]: E1120 15:00:01.123456    1800 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" node=\"ip-10-42-192-4.us-west-2.compute.internal\"\n", 20))}},
		"console in base64":      {one("instance/console-error", "new_nodegroup_2"), []change{wrote(base64.StdEncoding.EncodeToString([]byte("[    0.0] Linux version 6\n" + strings.Repeat("[   20.1] kubelet[1800]: E1120 15:00:01.123456    1800 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" node=\"ip-10-42-192-4\"\n", 20))))}},
		"older than the cluster": {likely("instance/older-than-cluster"), []change{selfManagedWith(`{"Key": "kubernetes.io/cluster/eks-workshop", "Value": "owned"}`), set(described, "cluster.createdAt", `"2026-11-20T15:01:00.000Z"`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, append([]change{noNode()}, tt.changes...)...)
		})
	}
}

// cutName takes names out of a list of texts.
func cutName(file, list, text string) change { return cut(file, list, text) }

// refusedToo adds to the calls that are refused.
func refusedToo(call string) change {
	return func(t *testing.T, dir string) {
		file, code, _ := strings.Cut(call, " ")
		without(file+".json")(t, dir)
		edited("errors", func(v any) { v.(map[string]any)[file] = map[string]any{"code": code, "message": "not found"} })(t, dir)
	}
}

// cniFails is a node whose network plugin gets no addresses.
func cniFails(t *testing.T, dir string) { notReady("cni plugin not initialized")(t, dir) }

// selfManaged takes all tags of the instance that name its cluster, and its
// node group's.
func selfManaged() change { return selfManagedWith("") }

func selfManagedWith(tag string) change {
	return func(t *testing.T, dir string) {
		set(instances, it+".Tags", `[{"Key": "aws:autoscaling:groupName", "Value": "`+asg+`"}, {"Key": "aws:ec2launchtemplate:id", "Value": "`+lt+`"}, {"Key": "aws:ec2launchtemplate:version", "Value": "1"}]`)(t, dir)
		if tag != "" {
			set(instances, it+".Tags.+", tag)(t, dir)
		}
		set(groups, "AutoScalingGroups.AutoScalingGroupName="+asg+".Tags", `[]`)(t, dir)
		cut("eks-list-nodegroups.eks-workshop", "nodegroups", "new_nodegroup_2")(t, dir)
		without(groupFile+".json")(t, dir)
	}
}

// instanceGone takes an instance out of the capture, and leaves its node.
func instanceGone(id string) change {
	return edited("ec2-describe-instances", func(v any) {
		for _, r := range at(v, "Reservations").([]any) {
			var kept []any
			for _, in := range at(r, "Instances").([]any) {
				if at(in, "InstanceId") != id {
					kept = append(kept, in)
				}
			}
			r.(map[string]any)["Instances"] = kept
		}
	})
}

// autoMode has EKS Auto Mode run nodes.
func autoMode() change {
	return edited("eks-describe-cluster.eks-workshop", func(v any) {
		at(v, "cluster").(map[string]any)["computeConfig"] = map[string]any{"enabled": true}
	})
}

// TestANodeWithoutItsInstance: a Ready node of an instance that the capture does
// not hold is not well by silence, and why is said.
func TestANodeWithoutItsInstance(t *testing.T) {
	t.Parallel()
	const older = "i-0d0000000000000a1"
	for name, test := range map[string]struct {
		want    said
		changes []change
	}{
		"hidden or foreign": {said{2, nil, nil, "names " + older + ", which EC2 does not show"}, []change{instanceGone(older)}},
		"may be hidden":     {said{2, nil, nil, "EKS Auto Mode runs nodes, and the capture has nothing that it manages"}, []change{instanceGone(older), autoMode()}},
	} {
		t.Run(name, func(t *testing.T) { tell(t, test.want, test.changes...) })
	}
}

const (
	updates = "eks-list-updates.eks-workshop.new_nodegroup_2"
	update  = "eks-describe-update.eks-workshop.new_nodegroup_2.0fe9746f-aa5b-e824-dac0-75ae25ff8170"
)

// issues gives the nodegroup a status and health issues, as EKS shows them.
func issues(status, list string) change {
	return func(t *testing.T, dir string) {
		set(groupFile, "nodegroup.status", `"`+status+`"`)(t, dir)
		set(groupFile, "nodegroup.health.issues", list)(t, dir)
	}
}

// updateIs gives the nodegroup's only update a status and errors.
func updateIs(status, errors string) change {
	return func(t *testing.T, dir string) {
		set(update, "update.status", `"`+status+`"`)(t, dir)
		set(update, "update.errors", errors)(t, dir)
	}
}

const (
	quota   = `[{"code": "InstanceLimitExceeded", "message": "You have requested more vCPU capacity than your current vCPU limit of 16 allows.", "resourceIds": ["` + asg + `"]}]`
	foreign = `[{"code": "Ec2PlacementGroupNotFound", "message": "The placement group of the launch template does not exist.", "resourceIds": ["pg-0123456789abcdef0"]}]`
	absent  = `[{"code": "NodeCreationFailure", "message": "Instances failed to join the kubernetes cluster", "resourceIds": ["` + young + `"]}]`
	evict   = `[{"errorCode": "PodEvictionFailure", "errorMessage": "Reached max retries while trying to evict pods", "resourceIds": ["ip-10-42-192-4.us-west-2.compute.internal"]}]`
)

// TestNodegroups holds what EKS says of nodegroups against what a capture says:
// what it lacks makes a healthy one unknown only where it was asked for and
// refused, or is half there.
func TestNodegroups(t *testing.T) {
	well := said{}
	unknown := func(words string) said { return said{2, nil, nil, words} }
	long := set(groupFile, "nodegroup.modifiedAt", "1795178000")
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"a quota":                      {one("nodegroup/health", "new_nodegroup_2"), []change{noInstance, issues("DEGRADED", quota)}},
		"a quota, and as many as want": {well, []change{issues("DEGRADED", quota)}},
		"a code of tomorrow":           {one("nodegroup/health", "new_nodegroup_2"), []change{issues("DEGRADED", foreign)}},
		"instances that do not join":   {one("route/no-egress", table), []change{noNode(), noWayOut(), issues("CREATE_FAILED", absent)}},
		"nobody knows why":             {said{1, []string{"node/not-registered symptom", "nodegroup/health symptom"}, nil, ""}, []change{noNode(), issues("DEGRADED", absent)}},
		"and they joined":              {well, []change{issues("DEGRADED", absent)}},
		"an update failed":             {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict)}},
		"an update goes on":            {well, []change{updateIs("InProgress", "[]"), set(groupFile, "nodegroup.status", `"UPDATING"`)}},
		"deleted since two hours":      {one("nodegroup/status", "new_nodegroup_2"), []change{set(groupFile, "nodegroup.status", `"DELETING"`), long}},
		"deleted since minutes":        {well, []change{set(groupFile, "nodegroup.status", `"DELETING"`)}},
		"updates not captured":         {well, []change{without(updates+".json", update+".json", "eks-list-updates.eks-workshop.default.json")}},
		"of one not captured":          {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict), without("eks-list-updates.eks-workshop.default.json")}},
		"described and not listed":     {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict), without(updates + ".json")}},
		"described, in no list":        {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict), set(updates, "updateIds", "[]")}},
		"described, went well":         {well, []change{without(updates + ".json")}},
		"a symptom, without updates":   {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{noNode(), without(updates+".json", update+".json")}},
		"listed and not described":     {unknown("nodegroup/update-failed new_nodegroup_2: eks:DescribeUpdate: broken (the capture has no eks-describe-update"), []change{without(update + ".json")}},
		"updates refused":              {unknown("nodegroup/update-failed eks-workshop: eks:ListUpdates: denied"), []change{refused(updates + " AccessDeniedException")}},
		"no such updates":              {well, []change{refused(updates + " ResourceNotFoundException")}},
		"updates throttled":            {well, []change{refused(updates + " ThrottlingException")}},
		"one Spot pool":                {said{0, []string{"spot/few-pools advice"}, []string{"new_nodegroup_2"}, ""}, []change{set(groupFile, "nodegroup.capacityType", `"SPOT"`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}

// A function that fails is reported, and what it cannot do is left out; that the clusters
// cannot be listed is reported once for those that have turns.
func TestFunctionsThatFailAreTold(t *testing.T) {
	r, err := Examine(t.Context(), subject.Subject{Path: folder(t, only(instances, "time.txt"))}, nil, io.Discard)
	expect.OK(t, err)
	var failed []string
	for _, u := range r.Unknown {
		if u.Check == "" && strings.Contains(u.Reason, "the function failed: list the clusters: eks:ListClusters not read") {
			failed = append(failed, u.Resource)
		}
	}
	expect.Equal(t, "failed", strings.Join(failed, " "), "spot-report")
}

// The look holds nothing of the stage: it is the same engine for an account that is
// there.
func TestTheLookStandsAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./look").Output()
	expect.OK(t, err)
	seen := false
	for _, dep := range strings.Fields(string(out)) {
		seen = seen || dep == "rollcall/functions/join-check/joincheck"
		if (strings.HasPrefix(dep, "rollcall/stage") || strings.HasPrefix(dep, "rollcall/tools/") || strings.HasPrefix(dep, "rollcall/command/")) && dep != "rollcall/command/diagnose/look" || strings.Contains(dep, "enicleanup") || strings.Contains(dep, "remedy/awscall") {
			t.Errorf("it depends on %s", dep)
		}
	}
	if !seen {
		t.Error("it does not call the roll: this test looks for the wrong thing")
	}
}

// TestShapes holds forms in which the CLI and kubectl print the same, and the
// rules for young instances, several faults and what hides what.
func TestShapes(t *testing.T) {
	symptom := said{1, []string{"node/not-registered symptom"}, nil, ""}
	const youngTime = "2026-11-20T15:08:00Z"
	all3 := edited(nodes, func(v any) { v.(map[string]any)["items"] = []any{} })
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"a list of its own kind":        {symptom, []change{noNode(), set(nodes, "kind", `"NodeList"`)}},
		"tokens that say nothing":       {symptom, []change{noNode(), set(subnets, "NextToken", "null"), set(tables, "NextToken", `""`)}},
		"no console output":             {said{2, []string{"node/not-registered symptom"}, nil, "instance/console-error"}, []change{noNode(), with("ec2-get-console-output."+young+".json", `{"InstanceId": "`+young+`", "Timestamp": "2026-11-20T15:04:00.000Z"}`)}},
		"no user data":                  {said{1, []string{"instance/user-data likely"}, nil, ""}, []change{noNode(), with("ec2-describe-instance-attribute."+young+".userData.json", `{"InstanceId": "`+young+`", "UserData": {}}`), set(templates, "LaunchTemplateVersions.LaunchTemplateId="+lt+".LaunchTemplateData.UserData", ""), set(groupFile, "nodegroup.amiType", `"CUSTOM"`), set(instances, it+".ImageId", `"ami-0custom"`), set(images, "Images.+", `{"ImageId": "ami-0custom", "Name": "ours", "OwnerId": "111122223333", "Architecture": "x86_64", "State": "available"}`)}},
		"young, nothing there yet":      {said{}, []change{noNode(), launched(youngTime), without("ec2-get-console-output."+young+".json", "kubectl-get-events.eks-workshop.json")}},
		"young, likely":                 {said{}, []change{noNode(), launched(youngTime), set("ec2-describe-dhcp-options", "DhcpOptions.0.DhcpConfigurations.0.Values.0.Value", `"a.very.long.domain.name.of.a.company.that.likes.to.be.exact.example.com"`)}},
		"young, profile deleted":        {one("iam/profile-missing"), []change{noNode(), launched(youngTime), refused(profileFile + " NoSuchEntity")}},
		"young and registered":          {said{}, []change{launched(youngTime), notReady("cni plugin not initialized")}},
		"Ready and impaired":            {said{}, []change{running("2026-11-20T15:09:05Z"), set(profileFile, "InstanceProfile.Roles", `[]`)}},
		"nobody joined, one way out":    {one("route/nat-unusable", nat), []change{all3, set(nats, "NatGateways.0.State", `"failed"`)}},
		"two faults of two node groups": {said{1, []string{"iam/role-trust certain", "route/no-egress certain"}, nil, ""}, []change{all3, noWayOut(), set("iam-get-role.eksctl-eks-workshop-NodeInstanceRole", "Role.AssumeRolePolicyDocument.Statement.0.Principal.Service", `"eks.amazonaws.com"`)}},
		"not ready":                     {said{1, []string{"node/cni-not-ready likely"}, nil, ""}, []change{notReady("x")}},
		"uninitialized":                 {said{1, []string{"node/uninitialized likely"}, nil, ""}, []change{set(nodes, "items.3.spec.taints", `[{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}]`)}},
		"aws-node crashes":              {said{1, []string{"node/cni-not-ready certain"}, nil, ""}, []change{notReady("cni plugin not initialized"), set("kubectl-get-pods.eks-workshop", "items.+", awsNode)}},
		"kubelet too new":               {said{1, []string{"instance/version-skew certain"}, nil, ""}, []change{notReady("x"), set(nodes, "items.3.status.nodeInfo.kubeletVersion", `"v1.36.0-eks-1234567"`)}},
		"an IAM path":                   {symptom, []change{noNode(), set(entryFile, "accessEntry.accessEntryArn", `"x"`)}},
		"planned, no time.txt":          {said{1, []string{"instance/scheduled-event likely"}, nil, ""}, []change{noNode(), without("time.txt"), set(nodes, "items.0.status.conditions.0.lastHeartbeatTime", `"2026-11-20T15:09:40Z"`), set(statuses, "InstanceStatuses.InstanceId="+young+".Events", `[{"Code": "instance-retirement", "Description": "x", "NotBefore": "2026-12-20T16:00:00.000Z"}]`)}},
		"event of a failed launch":      {one("launch/insufficient-capacity", asg, subnet), []change{noInstance, with("event.json", launchFailedNow())}},
		"event of a stranger":           {said{}, []change{with("event.json", `{"version": "0", "id": "1", "detail-type": "EC2 Instance State-change Notification", "source": "aws.ec2", "account": "111122223333", "time": "2026-11-20T15:09:00Z", "region": "us-west-2", "resources": [], "detail": {"instance-id": "i-0ddddddddddddddd1", "state": "running"}}`)}},
		"stopped by nobody":             {one("instance/ended-early", young), []change{noNode(), set(instances, it+".State", `{"Code": 80, "Name": "stopped"}`), set(instances, it+".StateReason", `{"Code": "Client.InstanceInitiatedShutdown", "Message": "Client.InstanceInitiatedShutdown: Instance initiated shutdown"}`), set(instances, it+".StateTransitionReason", `"User initiated (2026-11-20 15:00:00 GMT)"`)}},
		"shut down by itself":           {one("instance/ended-early", young), []change{noNode(), ended("2026-11-20 15:00:10 GMT", "Client.InstanceInitiatedShutdown", "Client.InstanceInitiatedShutdown: Instance initiated shutdown")}},
		"days old and no node":          {symptom, []change{noNode(), launched("2026-11-12T09:14:05.000Z")}},
		"retained for a person":         {said{}, []change{noNode(), lifecycleState("Terminating:Retained")}},
		"its root volume is replaced":   {said{}, []change{noNode(), lifecycleState("ReplacingRootVolume")}},
		"its end waits for a hook":      {symptom, []change{noNode(), lifecycleState("Terminating:Wait")}},
		"leaked nothing":                {said{}, []change{with("ec2-describe-network-interfaces.json", `{"NetworkInterfaces": []}`)}},
		"add-on by lack of nodes":       {one("route/nat-unusable", nat), []change{all3, set(nats, "NatGateways.0.State", `"failed"`), set("eks-describe-addon.eks-workshop.coredns", "addon.status", `"DEGRADED"`), set("eks-describe-addon.eks-workshop.coredns", "addon.health.issues", `[{"code": "InsufficientNumberOfReplicas", "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.", "resourceIds": []}]`)}},
		"no access entries at all":      {one("iam/access-missing", role), []change{noNode(), set(described, "cluster.accessConfig", ""), refused("eks-list-access-entries.eks-workshop InvalidRequestException"), refusedToo(entryFile + " ResourceNotFoundException")}},
		"a bastion with the tag":        {symptom, []change{noNode(), set(instances, it+".LaunchTime", `"2026-11-20T14:58:10.000Z"`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}

// lifecycleState is how the group of the instance has it.
func lifecycleState(state string) change {
	return set(groups, everyGroup+".Instances.InstanceId="+young+".LifecycleState", `"`+state+`"`)
}

// awsNode is the network plugin's pod on the node, which fails again and again.
const awsNode = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "aws-node-x7x2k", "namespace": "kube-system", "labels": {"k8s-app": "aws-node"}, "creationTimestamp": "2026-11-20T14:59:00Z"},
"spec": {"nodeName": "ip-10-42-192-4.us-west-2.compute.internal", "containers": [{"name": "aws-node", "image": "x"}]},
"status": {"phase": "Running", "containerStatuses": [{"name": "aws-node", "ready": false, "restartCount": 7, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 2m40s restarting failed container"}}, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}}`

// takenWorlds are the worlds of which captures are taken: each third of the corpus (all of
// it takes five minutes more, and was green when the taking was written), or a few that
// show something of everything that is taken.
func takenWorlds(t *testing.T) []string {
	t.Helper()
	worlds := filepath.Join(here(t), "..", "..", "stage", "worlds")
	all := []string{"healthy-nat", "samples", "nodegroup-update-failed", "karpenter"}
	if testfull.Asked() {
		corpus, err := filepath.Glob(filepath.Join(worlds, "corpus", "*.yaml"))
		if err != nil || len(corpus) == 0 {
			t.Fatalf("no corpus: %v", err)
		}
		for i, file := range corpus {
			if i%3 > 0 {
				continue
			}
			if filepath.Base(file) == "unseen.yaml" {
				continue // a list, no world
			}
			all = append(all, filepath.Join("corpus", strings.TrimSuffix(filepath.Base(file), ".yaml")))
		}
	}
	for i, name := range all {
		all[i] = filepath.Join(worlds, name+".yaml")
	}
	return all
}

// notInCaptures are worlds of which a capture tells less, and why.
func notInCaptures(world string) string {
	switch world {
	case "launch-policy-denied-encoded":
		return "who was denied what is decoded by a call for each message (sts:DecodeAuthorizationMessage)"
	}
	return ""
}

// TestTaken: what is taken of a world is diagnosed as the world is, and so is what is
// left of it when it is masked.
func TestTaken(t *testing.T) {
	for _, file := range takenWorlds(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "capture")
			takeOf(t, file, dir)
			want, got := toldOf(t, file), toldOf(t, dir)
			if why := notInCaptures(strings.TrimSuffix(filepath.Base(file), ".yaml")); why != "" {
				if cmp.Equal(causes(want), causes(got)) {
					t.Errorf("it is diagnosed as the world is, although %s", why)
				}
			} else if diff := cmp.Diff(causes(want), causes(got)); diff != "" {
				t.Errorf("incidents (-world +capture):\n%s", diff)
			}
			masked := dir + "-masked"
			expect.OK(t, mask.Folder(dir, masked))
			same := toldOf(t, masked)
			if diff := cmp.Diff(shapes(got), shapes(same)); diff != "" {
				t.Errorf("incidents (-capture +masked):\n%s", diff)
			}
			if diff := cmp.Diff(got.Status(), same.Status()); diff != "" {
				t.Errorf("exit status (-capture +masked):\n%s", diff)
			}
		})
	}
}

// takeOf takes a capture of a world at the time at which it is diagnosed.
func takeOf(t *testing.T, file, dir string) take.Summary {
	t.Helper()
	w, err := worldfile.Load(file)
	expect.OK(t, err)
	at := w.Time.Add(examine.Settled)
	s, err := stage.Start(context.Background(), stage.Options{
		World: file, At: at, Template: filepath.Join(here(t), "..", "..", "infra", "Rollcall.template.json"), Quiet: true, Still: true,
	})
	expect.OK(t, err)
	defer s.Close()
	cfg := s.AsAdmin()
	account := take.Account{Config: cfg, Kubernetes: take.ByToken(cfg, func(_ context.Context, c take.Cluster) (take.APIServer, error) {
		// Where it really is, of a world that says how its cluster is described.
		if endpoint, ca, ok := s.Cloud.Kubernetes(c.Name); ok {
			c.Endpoint, c.CA = endpoint, ca
		}
		return take.APIServer{Endpoint: c.Endpoint, CA: c.CA, Transport: s.HTTPClient().Transport}, nil
	})}
	summary, err := take.Take(t.Context(), account, take.Options{Dir: dir, Instances: 50, Now: at})
	expect.OK(t, err)
	return summary
}

// toldOf is what the command says of a world or a capture.
func toldOf(t *testing.T, path string) result.Result {
	t.Helper()
	r, err := Examine(t.Context(), subject.Subject{Path: path}, examine.Worlds{}, io.Discard)
	expect.OK(t, err)
	return r
}

func causes(r result.Result) [][]string {
	var list [][]string
	for _, i := range r.Incidents {
		list = append(list, append([]string{i.Cause, i.Confidence, i.Cluster}, i.Resources...))
	}
	// The same cause of two clusters is reported in no order.
	slices.SortStableFunc(list, slices.Compare[[]string])
	return list
}

// shape is what masking leaves of an incident: names are others.
type shape struct {
	Cause, Confidence string
	Resources         int
	Instances         []string
}

func shapes(r result.Result) []shape {
	var list []shape
	for _, i := range r.Incidents {
		list = append(list, shape{i.Cause, i.Confidence, len(i.Resources), i.Instances})
	}
	return list
}

// An event without a time is of the capture's, as the bus gives it one.
func TestEventWithoutTime(t *testing.T) {
	dir := folder(t, noNode(), noWayOut(), with("event.json", strings.ReplaceAll(launchFailed, `"time": "TIME", `, "")))
	_, status, notes := ask(t, dir)
	if status != exit.Causes || strings.Contains(notes, "no rule of Rollcall takes") {
		t.Errorf("status %d, notes %q", status, notes)
	}
}
