// Package kubestate is what the Kubernetes API of a simulated cluster has: its
// objects as kubectl's JSON, their versions and events, and what can be read off
// them.
package kubestate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/simaws/addresses"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
)

// Cluster is what the Kubernetes API of one cluster has.
type Cluster struct {
	Name    string
	Nodes   *table.Table[map[string]any]
	Objects map[string][]map[string]any
	// Version is the resource version of the newest change.
	Version int64
	// events are when each event that the world made was told, oldest first.
	events []time.Time
	// Sets are the pods that the world's scheduler places.
	Sets []*SetPod
	// KubernetesVersion is the cluster's, such as 1.34.
	KubernetesVersion string
	// Watch, if any, is called with each change of an object, within what holds the
	// state.
	Watch func()
}

// SetPod is a pod that the world's scheduler places.
type SetPod struct {
	Set worldfile.SetFile
	// Claim is the name of its claim, empty without one.
	Claim  string
	Name   string
	Object map[string]any
	// SchedulerMessage is what the scheduler last said of it.
	SchedulerMessage string
}

// ENIConfigs is the plural of the CNI's custom networking.
const ENIConfigs = "eniconfigs"

// customKinds are there only where a user, or EKS Auto Mode, has put their
// definitions.
func customKinds() []string {
	return []string{ENIConfigs, "nodepools", "nodeclaims", "ec2nodeclasses", "nodeclasses"}
}

// Touch gives a changed object the next resource version.
func (k *Cluster) Touch(object map[string]any) {
	k.Version++
	if meta, ok := object["metadata"].(map[string]any); ok {
		meta["resourceVersion"] = strconv.FormatInt(k.Version, 10)
	}
	if k.Watch != nil {
		k.Watch()
	}
}

// cniPod is the node's pod of aws-node among the world's objects, nil where
// the world lists none. Pods that are well are not listed by themselves.
func (k *Cluster) cniPod(node map[string]any) map[string]any {
	name := At(node, "metadata", "name")
	for _, p := range k.Objects["pods"] {
		if At(p, "spec", "nodeName") == name && At(p, "metadata", "labels", "k8s-app") == "aws-node" {
			return p
		}
	}
	return nil
}

// CNICrashes shows the node's aws-node ending again and again. What the
// container last said is in its log, not in its status.
func (k *Cluster) CNICrashes(in *ec2types.Instance, node map[string]any, now time.Time) {
	p := k.cniPod(node)
	if p == nil {
		id := aws.ToString(in.InstanceId)
		p = map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{
				"name": "aws-node-" + id[len(id)-5:], "namespace": "kube-system",
				"labels": map[string]any{"k8s-app": "aws-node"}, "creationTimestamp": Time(now),
			},
			"spec": map[string]any{"nodeName": At(node, "metadata", "name")},
		}
		k.Objects["pods"] = append(k.Objects["pods"], p)
	}
	restarts := 1
	if list, ok := At(p, "status", "containerStatuses").([]any); ok && len(list) > 0 {
		if n, ok := At(list[0], "restartCount").(int); ok {
			restarts = n + 1
		}
	}
	p["status"] = map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{
		"name": "aws-node", "ready": false, "restartCount": restarts,
		"state":     map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff", "message": "back-off restarting failed container=aws-node"}},
		"lastState": map[string]any{"terminated": map[string]any{"exitCode": 1, "reason": "Error", "finishedAt": Time(now)}},
	}}}
	k.Touch(p)
}

// CNIRuns shows that the node's aws-node came up after all.
func (k *Cluster) CNIRuns(node map[string]any, now time.Time) {
	p := k.cniPod(node)
	list, ok := At(p, "status", "containerStatuses").([]any)
	if !ok || len(list) == 0 {
		return
	}
	if c, ok := list[0].(map[string]any); ok {
		c["ready"] = true
		c["state"] = map[string]any{"running": map[string]any{"startedAt": Time(now)}}
		k.Touch(p)
	}
}

// DropCNIPod takes the pod away with its node.
func (k *Cluster) DropCNIPod(node map[string]any) {
	p := k.cniPod(node)
	if p == nil {
		return
	}
	name := At(p, "metadata", "name")
	k.Objects["pods"] = slices.DeleteFunc(k.Objects["pods"], func(o map[string]any) bool {
		return At(o, "metadata", "name") == name && At(o, "metadata", "labels", "k8s-app") == "aws-node"
	})
	k.Version++
}

// CNISettings are the settings of the DaemonSet aws-node that decide how many
// addresses a node takes.
type CNISettings struct {
	warmInterfaces int // WARM_ENI_TARGET
	warmAddresses  int // WARM_IP_TARGET, 0 where it is not set
	minAddresses   int // MINIMUM_IP_TARGET, 0 where it is not set
	warmPrefixes   int // WARM_PREFIX_TARGET
	Prefixes       bool
	Cluster        string // CLUSTER_NAME, empty where it is not set
	PodENI         bool   // ENABLE_POD_ENI
}

// CNISettings reads what the cluster's aws-node runs with. What it does not
// say, and a cluster whose world lists no aws-node, has the CNI's defaults.
func (k *Cluster) CNISettings() CNISettings {
	s := CNISettings{warmInterfaces: 1, warmPrefixes: 1, Cluster: k.Name}
	for _, d := range k.Objects["daemonsets"] {
		if meta, ok := d["metadata"].(map[string]any); !ok || meta["name"] != "aws-node" {
			continue
		}
		containers, _ := At(d, "spec", "template", "spec", "containers").([]any)
		for _, item := range containers {
			c, _ := item.(map[string]any)
			if c["name"] != "aws-node" {
				continue
			}
			list, _ := c["env"].([]any)
			s.Cluster = ""
			for _, item := range list {
				e, _ := item.(map[string]any)
				name, _ := e["name"].(string)
				value, _ := e["value"].(string)
				s.set(name, value)
			}
		}
	}
	return s
}

func (s *CNISettings) set(name, value string) {
	if name == "ENABLE_PREFIX_DELEGATION" {
		s.Prefixes = value == "true"
		return
	}
	if name == "ENABLE_POD_ENI" {
		s.PodENI = value == "true"
		return
	}
	if name == "CLUSTER_NAME" {
		s.Cluster = value
		return
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return // the CNI keeps its default then
	}
	switch name {
	case "WARM_ENI_TARGET":
		s.warmInterfaces = n
	case "WARM_IP_TARGET":
		s.warmAddresses = n
	case "MINIMUM_IP_TARGET":
		s.minAddresses = n
	case "WARM_PREFIX_TARGET":
		s.warmPrefixes = n
	}
}

// At is what lies at a path of keys.
func At(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// firstPods is how many pods come to a node as soon as it takes pods. One is
// enough to have the CNI attach its warm interface: with it, the first one is
// no longer a whole interface in reserve.
const firstPods = 1

// Wants is how many slots (addresses, or prefixes of sixteen) each of a node's
// interfaces has beside its own address. It is the CNI's rule: the targets for
// addresses take the place of that for interfaces where they are set.
func (s CNISettings) Wants(interfaces, perInterface int) []int {
	slots := max(perInterface-1, 0)
	total := 0
	switch byAddress := max(s.minAddresses, s.warmAddresses+firstPods); {
	case s.warmAddresses == 0 && s.minAddresses == 0 && s.Prefixes:
		total = s.warmPrefixes + (firstPods+addresses.PrefixSize-1)/addresses.PrefixSize
	case s.warmAddresses == 0 && s.minAddresses == 0:
		total = slots * (s.warmInterfaces + firstPods)
	case s.Prefixes:
		total = (byAddress + addresses.PrefixSize - 1) / addresses.PrefixSize
	default:
		total = byAddress
	}
	var list []int
	for total > 0 && slots > 0 && len(list) < interfaces {
		n := min(total, slots)
		list = append(list, n)
		total -= n
	}
	return list
}

// eventsKept is how long the API server keeps events (--event-ttl).
const eventsKept = time.Hour

// NodeEvent adds an event about a node, as the kubelet and the node controller do,
// and forgets what is too old. Such events outlive the node.
func (k *Cluster) NodeEvent(node map[string]any, component, reason, message string, now time.Time) {
	k.Say(node, "Node", component, reason, "Normal", message, now)
}

// Say adds an event about an object.
func (k *Cluster) Say(object map[string]any, kind, component, reason, level, message string, now time.Time) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	name := fmt.Sprint(meta["name"])
	// Events about what has no namespace are kept in default.
	namespace, about := "default", map[string]any{"kind": kind, "name": name, "uid": name}
	if n, ok := meta["namespace"].(string); ok {
		namespace, about = n, map[string]any{"kind": kind, "name": name, "namespace": n, "uid": meta["uid"]}
	}
	at := Time(now)
	k.Version++
	k.Objects["events"] = append(k.Objects["events"], map[string]any{
		"apiVersion": "v1", "kind": "Event",
		"metadata": map[string]any{
			"name": fmt.Sprintf("%s.%016x", name, k.Version), "namespace": namespace,
			"creationTimestamp": at, "resourceVersion": fmt.Sprint(k.Version), "uid": fmt.Sprintf("00000000-0000-4000-8000-%012x", k.Version),
		},
		"involvedObject": about,
		"reason":         reason, "message": message, "type": level,
		"source":         map[string]any{"component": component},
		"firstTimestamp": at, "lastTimestamp": at, "count": 1,
	})
	k.events = append(k.events, now)
	// The world's own events, if any, come first and stay.
	own := len(k.Objects["events"]) - len(k.events)
	old := 0
	for old < len(k.events) && now.Sub(k.events[old]) > eventsKept {
		old++
	}
	if old > 0 {
		list := k.Objects["events"]
		k.Objects["events"] = append(list[:own:own], list[own+old:]...)
		k.events = k.events[old:]
	}
}

// ErrNoKind is the answer for a kind that the cluster's API does not have,
// because its definition is not installed.
var ErrNoKind = errors.New("the cluster does not have this kind")

// List is a list as the Kubernetes API keeps it.
type List struct {
	// ResourceVersion is the version of the whole list.
	ResourceVersion string
	// Items are the objects, each as its JSON.
	Items []json.RawMessage
}

// List lists the objects of a kind by its plural in lower case. A kind that the
// cluster does not have is ErrNoKind.
func (k *Cluster) List(plural string) (List, error) {
	if slices.Contains(customKinds(), plural) && k.Objects[plural] == nil {
		return List{}, ErrNoKind
	}
	list := k.Objects[plural]
	if plural == "nodes" {
		list = nil
		for _, n := range k.Nodes.All() {
			list = append(list, *n)
		}
	}
	out := List{ResourceVersion: strconv.FormatInt(k.Version, 10), Items: make([]json.RawMessage, 0, len(list))}
	for _, o := range list {
		b, err := json.Marshal(o)
		if err != nil {
			return List{}, fmt.Errorf("write %s of %s: %w", plural, k.Name, err)
		}
		out.Items = append(out.Items, b)
	}
	return out, nil
}

// notReady is the taint of a node that is not Ready.
const notReady = "node.kubernetes.io/not-ready"

// SetReady writes the Ready condition and the taint that goes with it.
func SetReady(node map[string]any, ready bool, reason, message string, now time.Time) {
	status := "False"
	if ready {
		status = "True"
		Untaint(node, notReady)
	} else {
		Taint(node, notReady, "NoSchedule")
	}
	SetCondition(node, "Ready", status, reason, message, now)
}

// SetCondition writes a condition of a node or a pod. Its transition is now
// where its status differs.
func SetCondition(node map[string]any, kind, status, reason, message string, now time.Time) {
	st, ok := node["status"].(map[string]any)
	if !ok {
		return
	}
	list, _ := st["conditions"].([]any)
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok || c["type"] != kind {
			continue
		}
		if c["status"] != status {
			c["lastTransitionTime"] = Time(now)
		}
		c["status"], c["reason"], c["message"], c["lastHeartbeatTime"] = status, reason, message, Time(now)
		return
	}
	st["conditions"] = append(list, map[string]any{
		"lastHeartbeatTime": Time(now), "lastTransitionTime": Time(now),
		"message": message, "reason": reason, "status": status, "type": kind,
	})
}

// Taint adds a taint to a node that does not have it.
func Taint(node map[string]any, key, effect string) {
	spec, ok := node["spec"].(map[string]any)
	if !ok {
		return
	}
	list, _ := spec["taints"].([]any)
	if !slices.ContainsFunc(list, func(t any) bool { return At(t, "key") == key }) {
		spec["taints"] = append(slices.Clone(list), map[string]any{"effect": effect, "key": key})
	}
}

// Time is a time as Kubernetes writes it.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Untaint takes a taint away.
func Untaint(node map[string]any, key string) {
	spec, ok := node["spec"].(map[string]any)
	if !ok {
		return
	}
	list, _ := spec["taints"].([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(t any) bool { return At(t, "key") == key })
	if len(list) == 0 {
		delete(spec, "taints")
		return
	}
	spec["taints"] = list
}

// Minor is the cluster's minor version, 34 of 1.34.
func (k *Cluster) Minor() int {
	_, text, _ := strings.Cut(k.KubernetesVersion, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// Find is an object by namespace and name, nil where there is none.
func (k *Cluster) Find(plural, namespace, name string) map[string]any {
	for _, o := range k.Objects[plural] {
		if At(o, "metadata", "name") == name && (namespace == "" || At(o, "metadata", "namespace") == namespace) {
			return o
		}
	}
	return nil
}

func (k *Cluster) ClaimOf(p *SetPod) map[string]any {
	return k.Find("persistentvolumeclaims", p.Set.Namespace, p.Claim)
}

// ClaimProblem is why a pod's claim keeps it from every node, empty where it
// does not.
func (k *Cluster) ClaimProblem(p *SetPod) string {
	if p.Claim == "" {
		return ""
	}
	switch claim := k.ClaimOf(p); {
	case claim == nil:
		return fmt.Sprintf("persistentvolumeclaim %q not found", p.Claim)
	case At(claim, "spec", "volumeName") == nil:
		return "pod has unbound immediate PersistentVolumeClaims"
	case k.PersistentVolume(p) == nil:
		return fmt.Sprintf("persistentvolume %q not found", At(claim, "spec", "volumeName"))
	}
	return ""
}

// PersistentVolume is the volume that a pod's claim is bound to, nil for none.
func (k *Cluster) PersistentVolume(p *SetPod) map[string]any {
	if p.Claim == "" {
		return nil
	}
	name, _ := At(k.ClaimOf(p), "spec", "volumeName").(string)
	if name == "" {
		return nil
	}
	return k.Find("persistentvolumes", "", name)
}

// VolumeOf is the EBS volume behind a pod's claim, empty for none.
func (k *Cluster) VolumeOf(p *SetPod) string {
	id, _ := At(k.PersistentVolume(p), "spec", "csi", "volumeHandle").(string)
	return id
}

// InstanceNamed is the instance of the node with a name, empty for none.
func (k *Cluster) InstanceNamed(name any) string {
	for _, n := range k.Nodes.All() {
		if At(*n, "metadata", "name") == name {
			provider, _ := At(*n, "spec", "providerID").(string)
			return provider[strings.LastIndex(provider, "/")+1:]
		}
	}
	return ""
}

// PodsOf counts a node's pods.
func (k *Cluster) PodsOf(node map[string]any) int {
	n := 0
	for _, p := range k.Objects["pods"] {
		if At(p, "spec", "nodeName") == At(node, "metadata", "name") {
			n++
		}
	}
	return n
}

// Patch changes an object as kubectl patch --type merge does (RFC 7386). Another
// spec is another generation.
func (k *Cluster) Patch(plural, namespace, name string, patch map[string]any) error {
	o := k.Find(plural, namespace, name)
	if o == nil {
		return fmt.Errorf("%s %q not found", plural, name)
	}
	before := o["spec"]
	merged := mergePatch(o, patch)
	maps.Copy(o, merged)
	for key := range o {
		if _, kept := merged[key]; !kept {
			delete(o, key)
		}
	}
	if !reflect.DeepEqual(before, o["spec"]) {
		if meta, ok := o["metadata"].(map[string]any); ok {
			meta["generation"] = Generation(o) + 1
		}
	}
	k.Touch(o)
	return nil
}

// Generation is which spec of an object its metadata says this is; 1 where it says
// nothing.
func Generation(o map[string]any) int64 {
	switch n := At(o, "metadata", "generation").(type) {
	case json.Number:
		if whole, err := n.Int64(); err == nil {
			return whole
		}
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	}
	return 1
}

// mergePatch is an object with a patch: what is null in the patch goes.
func mergePatch(o, patch map[string]any) map[string]any {
	out := maps.Clone(o)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(out, key)
		case isObject:
			have, _ := out[key].(map[string]any)
			out[key] = mergePatch(have, inner)
		default:
			out[key] = value
		}
	}
	return out
}

// Delete takes an object away.
func (k *Cluster) Delete(plural string, o map[string]any) {
	list := k.Objects[plural][:0:0]
	for _, other := range k.Objects[plural] {
		if At(other, "metadata", "name") != At(o, "metadata", "name") || At(other, "metadata", "namespace") != At(o, "metadata", "namespace") {
			list = append(list, other)
		}
	}
	k.Objects[plural] = list
	k.Touch(o)
}

// PodWaits writes the status of a pod whose container is being created.
func PodWaits(p map[string]any, container string) {
	p["status"] = map[string]any{"phase": "Pending", "containerStatuses": []any{map[string]any{
		"name": container, "ready": false, "restartCount": 0, "state": map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}},
	}}}
}

// PodRuns writes the status of a pod that runs with an address.
func PodRuns(p map[string]any, ip string, now time.Time) {
	p["status"] = map[string]any{"phase": "Running", "podIP": ip, "containerStatuses": []any{map[string]any{
		"name": At(p, "metadata", "labels", "app"), "ready": true, "restartCount": 0, "state": map[string]any{"running": map[string]any{"startedAt": Time(now)}},
	}}}
}
