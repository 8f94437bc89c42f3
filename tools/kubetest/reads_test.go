//go:build kube

package kubetest

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/kube"
)

// readers are what Rollcall reads of a cluster, by the method of its client.
func readers() map[string]func(context.Context, *kube.Client) (any, error) {
	return map[string]func(context.Context, *kube.Client) (any, error){
		"AWSAuth":                func(ctx context.Context, c *kube.Client) (any, error) { return c.AWSAuth(ctx) },
		"CNIDaemonSet":           func(ctx context.Context, c *kube.Client) (any, error) { return c.CNIDaemonSet(ctx) },
		"CNIPods":                func(ctx context.Context, c *kube.Client) (any, error) { return c.CNIPods(ctx) },
		"CNIServiceAccount":      func(ctx context.Context, c *kube.Client) (any, error) { return c.CNIServiceAccount(ctx) },
		"CSRs":                   func(ctx context.Context, c *kube.Client) (any, error) { return c.CSRs(ctx) },
		"ENIConfigs":             func(ctx context.Context, c *kube.Client) (any, error) { return c.ENIConfigs(ctx) },
		"AutoNodeClasses":        func(ctx context.Context, c *kube.Client) (any, error) { return c.AutoNodeClasses(ctx) },
		"EC2NodeClasses":         func(ctx context.Context, c *kube.Client) (any, error) { return c.EC2NodeClasses(ctx) },
		"NodeClaims":             func(ctx context.Context, c *kube.Client) (any, error) { return c.NodeClaims(ctx) },
		"NodePools":              func(ctx context.Context, c *kube.Client) (any, error) { return c.NodePools(ctx) },
		"NodeEvents":             func(ctx context.Context, c *kube.Client) (any, error) { return c.NodeEvents(ctx) },
		"Nodes":                  func(ctx context.Context, c *kube.Client) (any, error) { return c.Nodes(ctx) },
		"PersistentVolumeClaims": func(ctx context.Context, c *kube.Client) (any, error) { return c.PersistentVolumeClaims(ctx) },
		"PersistentVolumes":      func(ctx context.Context, c *kube.Client) (any, error) { return c.PersistentVolumes(ctx) },
		"PodsOn":                 func(ctx context.Context, c *kube.Client) (any, error) { return c.PodsOn(ctx, "bare") },
		"PodWarnings":            func(ctx context.Context, c *kube.Client) (any, error) { return c.PodWarnings(ctx) },
		"PoolEvents":             func(ctx context.Context, c *kube.Client) (any, error) { return c.PoolEvents(ctx) },
		"SchedulingEvents":       func(ctx context.Context, c *kube.Client) (any, error) { return c.SchedulingEvents(ctx) },
		"WaitingPods":            func(ctx context.Context, c *kube.Client) (any, error) { return c.WaitingPods(ctx) },
	}
}

// testReads makes an object of each form that is read, by the API's own rules,
// and reads all with Rollcall's rights: what comes must be what was made, and
// the same of the stage with the same objects.
func testReads(t *testing.T, real *place) {
	ctx := t.Context()
	// Everything that the client reads is judged here, also what is new.
	var methods []string
	client := reflect.TypeFor[*kube.Client]()
	for i := range client.NumMethod() {
		// Raw takes a path, and is judged below.
		if m := client.Method(i); m.Type.NumOut() == 2 && m.Name != "Raw" {
			methods = append(methods, m.Name)
		}
	}
	for _, name := range methods {
		if readers()[name] == nil {
			t.Errorf("the client's %s is not held against a real API server: make an object for it here", name)
		}
	}
	read := func(p *place, name string) any {
		c, err := kube.New(p.endpoint, p.ca, rollcallToken)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := readers()[name](ctx, c)
		if err != nil {
			t.Fatalf("%s: %s: %v", p.name, name, err)
		}
		return got
	}
	for name, empty := range map[string]any{
		"AWSAuth": (*kube.ConfigMap)(nil), "CNIDaemonSet": (*kube.DaemonSet)(nil), "CNIServiceAccount": (*kube.ServiceAccount)(nil), "ENIConfigs": []kube.ENIConfig(nil),
		"NodePools": []kube.NodePool(nil), "NodeClaims": []kube.NodeClaim(nil), "EC2NodeClasses": []kube.NodeClass(nil), "AutoNodeClasses": []kube.NodeClass(nil),
	} {
		if diff := cmp.Diff(empty, read(real, name)); diff != "" {
			t.Errorf("%s, before there is one (-want +got):\n%s", name, diff)
		}
	}

	for _, o := range objects(t) {
		if slices.Contains([]string{eniConfigs, nodePools, nodeClaims, ec2Classes, autoClasses}, o.path) {
			await(t, real, o.path)
		}
		if err := real.create(ctx, o.path, json.RawMessage(o.object)); err != nil {
			t.Fatal(err)
		}
		if o.status == "" {
			continue
		}
		if got := real.ask(t, adminToken, http.MethodPatch, o.path+"/"+o.name+"/"+o.under, json.RawMessage(o.status)); got.code != http.StatusOK {
			t.Fatalf("the %s of %s: %d %s", o.under, o.name, got.code, got.body)
		}
	}
	lists := map[string][]json.RawMessage{}
	for plural, path := range map[string]string{
		"nodes": "/api/v1/nodes", "pods": "/api/v1/pods", "events": "/api/v1/events", "configmaps": "/api/v1/configmaps", "serviceaccounts": "/api/v1/serviceaccounts",
		"persistentvolumes": "/api/v1/persistentvolumes", "persistentvolumeclaims": "/api/v1/persistentvolumeclaims", "daemonsets": "/apis/apps/v1/daemonsets",
		"certificatesigningrequests": "/apis/certificates.k8s.io/v1/certificatesigningrequests", "eniconfigs": eniConfigs,
		"nodepools": nodePools, "nodeclaims": nodeClaims, "ec2nodeclasses": ec2Classes, "nodeclasses": autoClasses,
	} {
		lists[plural] = real.objects(t, path)
	}
	stage := startStage(t, lists)
	for _, p := range []*place{real, stage} {
		c, err := kube.New(p.endpoint, p.ca, rollcallToken)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// Items say what they are where they are custom resources.
		for plural, path := range map[string]string{"nodes": "/api/v1/nodes", "nodepools": nodePools} {
			raw, err := c.Raw(ctx, path, nil)
			if err != nil {
				t.Fatalf("%s: Raw: %v", p.name, err)
			}
			var answer struct{ Items []any }
			if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Items) == 0 {
				t.Fatalf("%s: Raw of %s: %v, %d items", p.name, plural, err, len(answer.Items))
			}
			if diff := cmp.Diff(plain(t, lists[plural]), plain(t, answer.Items)); diff != "" {
				t.Errorf("%s: Raw of %s (-the API's answer +got):\n%s", p.name, plural, diff)
			}
		}
	}
	for _, name := range methods {
		got := read(real, name)
		if diff := cmp.Diff(read(stage, name), got); diff != "" {
			t.Errorf("%s (-stage +kube-apiserver):\n%s", name, diff)
		}
		if want, ok := wanted()[name]; ok {
			if diff := cmp.Diff(want, plain(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		} else if name != "Nodes" { // testNodes has them
			t.Errorf("nothing is wanted of %s", name)
		}
	}
}

// plain is what was read as JSON, without what is empty and without times that
// the server sets.
func plain(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	out, _ = shorten(out)
	return out
}

func shorten(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if k == "creationTimestamp" || k == "lastTransitionTime" {
				continue
			}
			if s, ok := shorten(inner); ok {
				out[k] = s
			}
		}
		return out, len(out) > 0
	case []any:
		out := []any{}
		for _, inner := range v {
			s, _ := shorten(inner)
			out = append(out, s)
		}
		return out, len(out) > 0
	case nil:
		return nil, false
	case string:
		return v, v != "" && v != "0001-01-01T00:00:00Z"
	case float64:
		return v, v != 0
	case bool:
		return v, v
	}
	return v, true
}

// kindTime is how long a custom kind may take to be served once it is defined.
const kindTime = 30 * time.Second

// await waits until a path is there.
func await(t *testing.T, p *place, path string) {
	t.Helper()
	for until := time.Now().Add(kindTime); ; time.Sleep(50 * time.Millisecond) {
		got := p.ask(t, adminToken, http.MethodGet, path, nil)
		if got.code == http.StatusOK {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s: %d %s", path, got.code, got.body)
		}
	}
}

// wanted is what must be read of the objects, as JSON.
func wanted() map[string]any {
	text := map[string]string{
		"AWSAuth":           `{"data":{"mapRoles":"- rolearn: arn:aws:iam::123456789012:role/node\n"}}`,
		"CNIServiceAccount": `{"metadata":{"annotations":{"eks.amazonaws.com/role-arn":"arn:aws:iam::123456789012:role/cni"}}}`,
		"CNIDaemonSet": `{"spec":{"template":{"spec":{"containers":[{"name":"aws-node","image":"cni:v1.19.0","env":[
			{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME"}]}]}}},"status":{"desiredNumberScheduled":3,"numberReady":2}}`,
		"CNIPods": `[{"metadata":{"name":"aws-node-1","namespace":"kube-system"},"spec":{"nodeName":"bare","volumes":[{"name":"eks-pod-identity-token"}],
			"containers":[{"name":"aws-node","env":[{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME"}]}]},"status":{"phase":"Running","containerStatuses":[
			{"name":"aws-node","restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
			"lastState":{"terminated":{"reason":"Error","exitCode":1,"finishedAt":"2026-11-20T15:01:00Z"}}}]}}]`,
		"CSRs":       `[{"metadata":{"name":"csr-approved"},"spec":{"signerName":"kubernetes.io/kubelet-serving","username":"admin"},"status":{"conditions":[{"type":"Approved"}]}},{"metadata":{"name":"csr-pending"},"spec":{"signerName":"kubernetes.io/kubelet-serving","username":"admin"}}]`,
		"ENIConfigs": `[{"metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-0a1b2c3d4e5f60718","securityGroups":["sg-0a1b2c3d4e5f60718"]}}]`,
		"NodePools": `[{"metadata":{"name":"gpu","generation":1},"spec":{"limits":{"cpu":"100","memory":"400Gi"},"template":{"metadata":{"labels":{"team":"ml"}},"spec":{
			"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"},"requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]}]}}},
			"status":{"resources":{"cpu":"96"},"conditions":[{"type":"NodeClassReady","status":"True","observedGeneration":1}]}}]`,
		"NodeClaims":      `[{"metadata":{"name":"gpu-x7k2p","generation":1,"labels":{"karpenter.sh/nodepool":"gpu"}},"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"}},"status":{"providerID":"aws:///us-west-2a/i-0a1b2c3d4e5f60718","nodeName":"bare"}}]`,
		"EC2NodeClasses":  `[{"metadata":{"name":"gpu","generation":1},"spec":{"role":"node","subnetSelectorTerms":[{"tags":{"karpenter.sh/discovery":"prod"}}]}}]`,
		"AutoNodeClasses": `[{"metadata":{"name":"default","generation":1},"spec":{"role":"auto","subnetSelectorTerms":[{"id":"subnet-0a1b2c3d4e5f60718"}]}}]`,
		"NodeEvents": `[{"involvedObject":{"kind":"Node","namespace":"default","name":"bare"},"reason":"NodeNotReady","message":"Node bare status is now: NodeNotReady",
				"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z"},
			{"involvedObject":{"kind":"Node","namespace":"default","name":"bare"},"reason":"Rebooted","message":"Node bare has been rebooted","reportingComponent":"kubelet",
				"eventTime":"2026-11-20T15:03:00.123456Z","series":{"lastObservedTime":"2026-11-20T15:04:00.5Z"}}]`,
		"PodWarnings": `[{"involvedObject":{"kind":"Pod","namespace":"default","name":"web-0"},"reason":"FailedScheduling","message":"0/3 nodes are available","reportingComponent":"default-scheduler",
				"eventTime":"2026-11-20T15:03:00Z"},
			{"involvedObject":{"kind":"Pod","namespace":"kube-system","name":"coredns-1"},"reason":"FailedCreatePodSandBox","message":"failed to assign an IP address to container",
				"source":{"component":"kubelet"},"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z"}]`,
		"SchedulingEvents": `[{"involvedObject":{"kind":"Pod","namespace":"default","name":"web-0"},"reason":"FailedScheduling","message":"0/3 nodes are available","reportingComponent":"default-scheduler",
				"eventTime":"2026-11-20T15:03:00Z"}]`,
		// Claims' events first, then pools'.
		"PoolEvents": `[{"involvedObject":{"kind":"NodeClaim","name":"gpu-x7k2p"},"reason":"InsufficientCapacityError","message":"creating instance, insufficient capacity","source":{"component":"karpenter"},
				"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:00:00Z"},
			{"involvedObject":{"kind":"NodePool","name":"gpu"},"reason":"NoCompatibleInstanceTypes","message":"NodePool requirements filtered out all instance types","source":{"component":"karpenter"},
				"firstTimestamp":"2026-11-20T15:01:00Z","lastTimestamp":"2026-11-20T15:01:00Z"}]`,
		"PodsOn": `[{"metadata":{"name":"web-1","namespace":"default"},"spec":{"nodeName":"bare","containers":[{"name":"web"}]},"status":{"phase":"Succeeded"}},
			{"metadata":{"name":"aws-node-1","namespace":"kube-system"},"spec":{"nodeName":"bare","volumes":[{"name":"eks-pod-identity-token"}],
			"containers":[{"name":"aws-node","env":[{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME"}]}]},"status":{"phase":"Running","containerStatuses":[
			{"name":"aws-node","restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
			"lastState":{"terminated":{"reason":"Error","exitCode":1,"finishedAt":"2026-11-20T15:01:00Z"}}}]}},
			{"metadata":{"name":"coredns-1","namespace":"kube-system"},"spec":{"nodeName":"bare","containers":[{"name":"coredns"}]},"status":{"phase":"Running"}}]`,
		"PersistentVolumes": `[{"metadata":{"name":"pvc-1"},"spec":{"storageClassName":"gp3","claimRef":{"namespace":"default","name":"data-web-0"},"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-0a1b2c3d4e5f60718"},
			"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["us-west-2a"]}]}]}}},"status":{"phase":"Bound"}}]`,
		"PersistentVolumeClaims": `[{"metadata":{"name":"data-web-0","namespace":"default"},"spec":{"storageClassName":"gp3","volumeName":"pvc-1"},"status":{"phase":"Bound"}}]`,
		// The tolerations of an hour are the API server's own.
		"WaitingPods": `[{"metadata":{"name":"web-0","namespace":"default","ownerReferences":[{"kind":"StatefulSet","name":"web","controller":true}]},
			"spec":{"containers":[{}],"nodeSelector":{"disk":"ssd"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["us-west-2b"]}]}]}}},
			"tolerations":[{"key":"dedicated","operator":"Equal","value":"web","effect":"NoSchedule"},{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute"}],
			"schedulingGates":[{"name":"example.com/wait"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-web-0"}},{"name":"scratch"}]},
			"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated","message":"Scheduling is blocked due to non-empty scheduling gates"}]}}]`,
	}
	out := map[string]any{}
	for name, t := range text {
		var v any
		if err := json.Unmarshal([]byte(t), &v); err != nil {
			panic(err) // a mistake in the literals above
		}
		out[name], _ = shorten(v)
	}
	return out
}
