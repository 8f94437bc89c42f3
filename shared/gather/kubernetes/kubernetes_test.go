package kubernetes

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, node)
	gathertest.Converts(t, pod)
	gathertest.Converts(t, csr)
	gathertest.Converts(t, nodeEvent)
	gathertest.Converts(t, eniConfig)
	gathertest.Converts(t, nodePool)
	gathertest.Converts(t, nodeClaim)
	gathertest.Converts(t, nodeClass)
	gathertest.Converts(t, waitingPod)
	gathertest.Converts(t, func(d kube.DaemonSet) snapshot.CNI { return cni(d, nil) })
	gathertest.Converts(t, func(a kube.ServiceAccount) snapshot.CNI { return cni(kube.DaemonSet{}, &a) })
}

func TestInstanceOf(t *testing.T) {
	for id, want := range map[string]string{
		"aws:///us-west-2a/i-0ef3":     "i-0ef3",
		"aws:///us-west-2a/fargate-ip": "",
		"eks-hybrid:///us-west-2/mi-1": "",
		"i-0ef3":                       "",
		"":                             "",
	} {
		expect.Equal(t, fmt.Sprintf("instanceOf(%q)", id), instanceOf(id), want)
	}
}

func TestVolumeID(t *testing.T) {
	for handle, want := range map[string]string{
		"vol-0ab12cd34ef567890":                  "vol-0ab12cd34ef567890",
		"aws://us-east-1a/vol-0ab12cd34ef567890": "vol-0ab12cd34ef567890",
		"aws:///vol-0ab12cd34ef567890":           "vol-0ab12cd34ef567890",
		"fs-0a":                                  "",
		"":                                       "",
		"vol-":                                   "",
		"vol-0a,vol-0b":                          "",
		"vol-{0a}":                               "",
	} {
		expect.Equal(t, fmt.Sprintf("volumeID(%q)", handle), volumeID(handle), want)
	}
}

func TestZonesOfAnAffinity(t *testing.T) {
	term := func(key, operator string, values ...string) kube.NodeSelectorTerm {
		return kube.NodeSelectorTerm{Labels: []kube.Requirement{{Key: key, Operator: operator, Values: values}}}
	}
	for name, test := range map[string]struct {
		terms []kube.NodeSelectorTerm
		want  []string
	}{
		"none":               {nil, nil},
		"csi":                {[]kube.NodeSelectorTerm{term("topology.ebs.csi.aws.com/zone", "In", "a")}, []string{"a"}},
		"one of two":         {[]kube.NodeSelectorTerm{term("topology.kubernetes.io/zone", "In", "b"), term("failure-domain.beta.kubernetes.io/zone", "In", "a")}, []string{"a", "b"}},
		"one names no zone":  {[]kube.NodeSelectorTerm{term("topology.kubernetes.io/zone", "In", "b"), term("kubernetes.io/hostname", "In", "n")}, nil},
		"an operator of old": {[]kube.NodeSelectorTerm{term("topology.kubernetes.io/zone", "NotIn", "b")}, nil},
		"local disk":         {[]kube.NodeSelectorTerm{term("kubernetes.io/hostname", "In", "ip-10-0-0-1")}, nil},
	} {
		expect.Same(t, name, zonesOf(test.terms), test.want)
	}
}

func TestPodCredentials(t *testing.T) {
	for text, want := range map[string]snapshot.PodCredentials{
		`{"spec":{"nodeName":"n"}}`: {},
		`{"spec":{"containers":[{"name":"other","env":[{"name":"AWS_ROLE_ARN","value":"x"}]}]}}`:                                                             {},
		`{"spec":{"containers":[{"name":"aws-node","env":[{"name":"WARM_ENI_TARGET","value":"1"}]}],"volumes":[{"name":"run-dir"}]}}`:                        {Told: true},
		`{"spec":{"containers":[{"name":"aws-node","env":[{"name":"AWS_ROLE_ARN","value":"arn:x"}]}],"volumes":[{"name":"aws-iam-token"}]}}`:                 {Told: true, Role: "arn:x"},
		`{"spec":{"containers":[{"name":"aws-node","env":[{"name":"AWS_CONTAINER_CREDENTIALS_FULL_URI","value":"http://169.254.170.23/v1/credentials"}]}]}}`: {Told: true, ByAssociation: true},
		`{"spec":{"containers":[{"name":"aws-node"}],"volumes":[{"name":"eks-pod-identity-token"}]}}`:                                                        {Told: true, ByAssociation: true},
	} {
		var p kube.Pod
		expect.OK(t, json.Unmarshal([]byte(text), &p))
		expect.Equal(t, fmt.Sprint(text), pod(p).Identity, want)
	}
}

const redis = `{"metadata":{"name":"redis-0","namespace":"redash","creationTimestamp":"2026-11-20T14:00:00Z","ownerReferences":[{"kind":"StatefulSet","name":"redis","controller":true}]},
"spec":{"nodeSelector":{"kubernetes.io/arch":"amd64"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"pool","operator":"In","values":["data"]}]}]}}},
"tolerations":[{"key":"data","operator":"Exists","effect":"NoSchedule"}],
"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"redis"}},{"name":"scratch","ephemeral":{"volumeClaimTemplate":{}}},{"name":"config","configMap":{"name":"x"}}]},
"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/2 nodes are available: 2 node(s) had volume node affinity conflict.","lastTransitionTime":"2026-11-20T14:00:01Z"}]}}`

func podOf(t *testing.T, text string) kube.WaitingPod {
	t.Helper()
	var p kube.WaitingPod
	expect.OK(t, json.Unmarshal([]byte(text), &p))
	return p
}

func TestWaitingPod(t *testing.T) {
	pulling := podOf(t, redis)
	pulling.Spec.NodeName = "ip-10-0-0-1"
	got := waitingPods([]kube.WaitingPod{pulling, podOf(t, redis)})
	want := []snapshot.WaitingPod{{
		Namespace: "redash", Name: "redis-0", Owner: "StatefulSet redis", Created: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC),
		Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: "0/2 nodes are available: 2 node(s) had volume node affinity conflict.", Since: time.Date(2026, 11, 20, 14, 0, 1, 0, time.UTC)},
		Claims:    []string{"redis", "redis-0-scratch"}, Selector: map[string]string{"kubernetes.io/arch": "amd64"},
		Terms:       []snapshot.NodeTerm{{Labels: []snapshot.Requirement{{Key: "pool", Operator: "In", Values: []string{"data"}}}, Fields: []snapshot.Requirement{}}},
		Tolerations: []snapshot.Toleration{{Key: "data", Operator: "Exists", Effect: "NoSchedule"}},
	}}
	expect.Same(t, "waiting pods", got, want)
}

// TestBranchWaits: a pod that a node took waits for a branch interface if it asks for
// one and no annotation says which it got.
func TestBranchWaits(t *testing.T) {
	const pod = `{"metadata":{"name":"db-%s","namespace":"shop","creationTimestamp":"2026-11-20T14:00:00Z","annotations":{%s}},"spec":{"nodeName":"%s","containers":[{},{"resources":{"requests":{%s}}}]},
"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-20T14:00:01Z"}]}}`
	const asks = `"vpc.amazonaws.com/pod-eni":"1"`
	var list []kube.WaitingPod
	for _, p := range []struct{ name, annotations, node, requests string }{
		{"z", "", "ip-10-0-0-1", asks}, {"a", `"kubernetes.io/psp":"eks.privileged"`, "ip-10-0-0-2", asks},
		{"has", `"vpc.amazonaws.com/pod-eni":"[{}]"`, "ip-10-0-0-1", asks}, {"none", "", "ip-10-0-0-1", `"cpu":"1"`}, {"zero", "", "ip-10-0-0-1", `"vpc.amazonaws.com/pod-eni":"0"`},
		{"unscheduled", "", "", asks},
	} {
		list = append(list, podOf(t, fmt.Sprintf(pod, p.name, p.annotations, p.node, p.requests)))
	}
	at := time.Date(2026, 11, 20, 14, 0, 1, 0, time.UTC)
	want := []snapshot.BranchWait{{Pod: "shop/db-a", Node: "ip-10-0-0-2", Since: at}, {Pod: "shop/db-z", Node: "ip-10-0-0-1", Since: at}}
	expect.Same(t, "pods that wait for a branch interface", branchWaits(list), want)
}

// TestStuckPods: a pod that a node took is stuck while it has no sandbox.
func TestStuckPods(t *testing.T) {
	const pod = `{"metadata":{"name":"%s","namespace":"shop"%s},"spec":{"nodeName":"n1"%s},
"status":{"phase":"Pending","conditions":[%s{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-20T14:00:01Z"}],"containerStatuses":[{"state":{"waiting":{"reason":"%s"}}}]}}`
	const without, with = `{"type":"PodReadyToStartContainers","status":"False"},`, `{"type":"PodReadyToStartContainers","status":"True"},`
	var list []kube.WaitingPod
	for _, p := range []struct{ name, meta, spec, condition, reason string }{
		{"a", "", "", without, "ContainerCreating"}, {"b", "", "", "", "ContainerCreating"}, {"c", "", "", "", "PodInitializing"},
		{"has-a-sandbox", "", "", with, "ContainerCreating"}, {"pulls", "", "", "", "ImagePullBackOff"}, {"on-the-host", "", `,"hostNetwork":true`, without, "ContainerCreating"},
		{"goes", `,"deletionTimestamp":"2026-11-20T14:00:00Z"`, "", without, "ContainerCreating"},
		{"branch", "", `,"containers":[{"resources":{"requests":{"vpc.amazonaws.com/pod-eni":"1"}}}]`, without, "ContainerCreating"},
	} {
		list = append(list, podOf(t, fmt.Sprintf(pod, p.name, p.meta, p.spec, p.condition, p.reason)))
	}
	var want []snapshot.StuckPod
	for _, name := range []string{"shop/a", "shop/b", "shop/c"} {
		want = append(want, snapshot.StuckPod{Pod: name, Node: "n1", Since: time.Date(2026, 11, 20, 14, 0, 1, 0, time.UTC)})
	}
	expect.Same(t, "stuck pods", stuckPods(list), want)
}

// TestHalfPods: nothing that an answer leaves out breaks the reader.
func TestHalfPods(t *testing.T) {
	if p := waitingPod(kube.WaitingPod{}); len(p.Claims) != 0 {
		t.Errorf("pod %+v", p)
	}
	if v := persistentVolume(kube.PersistentVolume{}); v.Volume != "" || v.Zones != nil {
		t.Errorf("volume %+v", v)
	}
	if c := claim(kube.PersistentVolumeClaim{}); c.Volume != "" {
		t.Errorf("claim %+v", c)
	}
}

func FuzzWaitingPods(f *testing.F) {
	f.Add([]byte(redis))
	f.Add([]byte(`{"spec":{"volumes":[{}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}}}}`))
	f.Add([]byte(`{"spec":{"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"aws:///vol-1"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{}]}}}}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var p kube.WaitingPod
		if json.Unmarshal(raw, &p) == nil {
			waitingPods([]kube.WaitingPod{p})
		}
		var v kube.PersistentVolume
		if json.Unmarshal(raw, &v) == nil {
			persistentVolume(v)
		}
	})
}
