package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// Load keeps what the clusters' APIs have and makes the nodes that
// the file only names.
func Load(w *state.State, f *worldfile.File) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Kubernetes)) {
		k := w.Kubernetes[name]
		if k == nil {
			errs = append(errs, fmt.Errorf("kubernetes: cluster %q is not in the world", name))
			continue
		}
		from := f.Kubernetes[name]
		k.Objects = map[string][]map[string]any{
			"pods": from.Pods, "persistentvolumes": from.PersistentVolumes, "persistentvolumeclaims": from.PersistentVolumeClaims,
			"daemonsets": from.DaemonSets, "serviceaccounts": from.ServiceAccounts, "configmaps": from.ConfigMaps, "events": from.Events,
			"certificatesigningrequests": from.CertificateSigningRequests, kubestate.ENIConfigs: from.ENIConfigs,
			"nodepools": from.NodePools, "nodeclaims": from.NodeClaims, "ec2nodeclasses": from.EC2NodeClasses, "nodeclasses": from.NodeClasses,
		}
		if c := w.Clusters.Get(name); c != nil {
			k.KubernetesVersion = aws.ToString(c.Version)
		}
		if from.ProvisionedVolumes {
			provisionVolumes(w, k)
		}
		for i, n := range from.Nodes {
			spec, _ := n["spec"].(map[string]any)
			provider, _ := spec["providerID"].(string)
			id := provider[strings.LastIndex(provider, "/")+1:]
			if id == "" {
				errs = append(errs, fmt.Errorf("kubernetes.%s.nodes[%d] has no spec.providerID", name, i))
				continue
			}
			k.Nodes.Put(id, &n)
			k.Version++
		}
		for _, id := range from.Joined {
			in := w.Instances.Get(id)
			if in == nil || w.ClusterOf(id) != name {
				errs = append(errs, fmt.Errorf("kubernetes.%s.joined: %s is not an instance of this cluster", name, id))
				continue
			}
			joinAtStart(w, k, in)
		}
	}
	return errors.Join(errs...)
}

// joinAtStart makes an instance a Ready node since its launch.
func joinAtStart(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) {
	now := w.Now
	w.Now = in.LaunchTime.Add(time.Duration(w.File.Nodes.BootSeconds) * time.Second)
	node := NodeObject(w, in)
	PutNode(w, k, in, node)
	w.Now = w.Now.Add(time.Duration(w.File.Nodes.ReadySeconds) * time.Second)
	StartCNI(w, k, in)
	kubestate.SetReady(node, true, "KubeletReady", "kubelet is posting ready status", w.Now)
	w.Now = now
}
