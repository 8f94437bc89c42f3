//go:build kube

package kubetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"
)

// made is an object as somebody in a cluster makes it, and what its controller
// then writes under one of its subresources.
type made struct{ path, name, object, under, status string }

const (
	defaultPods = "/api/v1/namespaces/default/pods"
	systemPods  = "/api/v1/namespaces/kube-system/pods"
	csrs        = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	eniConfigs  = "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs"
	nodePools   = "/apis/karpenter.sh/v1/nodepools"
	nodeClaims  = "/apis/karpenter.sh/v1/nodeclaims"
	ec2Classes  = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
	autoClasses = "/apis/eks.amazonaws.com/v1/nodeclasses"
	events      = "/api/v1/namespaces/default/events"
	podEvents   = "/api/v1/namespaces/kube-system/events"
)

// objects are what is read, and beside it what must not come: pods that run,
// events about other things, objects of other names.
func objects(t *testing.T) []made {
	t.Helper()
	definition := func(plural, singular, kind, group, version string) made {
		name := plural + "." + group
		return made{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", name, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":%q,"scope":"Cluster",
			"names":{"plural":%q,"singular":%q,"kind":%q},"versions":[{"name":%q,"served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`,
			name, group, plural, singular, kind, version), "", ""}
	}
	const containers = `"containers":[{"name":"aws-node","image":"cni:v1.19.0","env":[{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]}]`
	request := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"signerName":"kubernetes.io/kubelet-serving","usages":["digital signature","server auth"],"request":%q}}`, name, certificateRequest(t))
	}
	return []made{
		{"/api/v1/namespaces/kube-system/configmaps", "aws-auth", `{"metadata":{"name":"aws-auth"},"data":{"mapRoles":"- rolearn: arn:aws:iam::123456789012:role/node\n"}}`, "", ""},
		{"/api/v1/namespaces/default/configmaps", "aws-auth", `{"metadata":{"name":"aws-auth"},"data":{"mapRoles":"another"}}`, "", ""},
		{"/api/v1/namespaces/kube-system/serviceaccounts", "aws-node", `{"metadata":{"name":"aws-node","annotations":{"eks.amazonaws.com/role-arn":"arn:aws:iam::123456789012:role/cni"}}}`, "", ""},
		{"/apis/apps/v1/namespaces/kube-system/daemonsets", "aws-node", `{"metadata":{"name":"aws-node"},"spec":{"selector":{"matchLabels":{"k8s-app":"aws-node"}},"template":{"metadata":{"labels":{"k8s-app":"aws-node"}},"spec":{` + containers + `}}}}`,
			"status", `{"status":{"desiredNumberScheduled":3,"currentNumberScheduled":3,"numberMisscheduled":0,"numberReady":2}}`},
		{systemPods, "aws-node-1", `{"metadata":{"name":"aws-node-1","labels":{"k8s-app":"aws-node"}},"spec":{"nodeName":"bare","volumes":[{"name":"eks-pod-identity-token","emptyDir":{}}],` + containers + `}}`,
			"status", `{"status":{"phase":"Running","containerStatuses":[{"name":"aws-node","image":"cni:v1.19.0","imageID":"x","ready":false,"restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
				"lastState":{"terminated":{"exitCode":1,"reason":"Error","finishedAt":"2026-11-20T15:01:00Z"}}}]}}`},
		{systemPods, "coredns-1", `{"metadata":{"name":"coredns-1","labels":{"k8s-app":"kube-dns"}},"spec":{"nodeName":"bare","containers":[{"name":"coredns","image":"coredns"}]}}`, "status", `{"status":{"phase":"Running"}}`},
		{defaultPods, "web-0", `{"metadata":{"name":"web-0","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"0a1b2c3d-0000-4000-8000-000000000000","controller":true}]},
			"spec":{"containers":[{"name":"web","image":"web"}],"nodeSelector":{"disk":"ssd"},"schedulingGates":[{"name":"example.com/wait"}],
			"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["us-west-2b"]}]}]}}},
			"tolerations":[{"key":"dedicated","operator":"Equal","value":"web","effect":"NoSchedule"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-web-0"}},{"name":"scratch","emptyDir":{}}]}}`, "", ""},
		{defaultPods, "web-1", `{"metadata":{"name":"web-1"},"spec":{"nodeName":"bare","containers":[{"name":"web","image":"web"}]}}`, "status", `{"status":{"phase":"Succeeded"}}`},
		{"/api/v1/persistentvolumes", "pvc-1", `{"metadata":{"name":"pvc-1"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"gp3","claimRef":{"namespace":"default","name":"data-web-0"},
			"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-0a1b2c3d4e5f60718"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["us-west-2a"]}]}]}}}}`,
			"status", `{"status":{"phase":"Bound"}}`},
		{"/api/v1/namespaces/default/persistentvolumeclaims", "data-web-0", `{"metadata":{"name":"data-web-0"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"gp3","volumeName":"pvc-1","resources":{"requests":{"storage":"1Gi"}}}}`,
			"status", `{"status":{"phase":"Bound"}}`},
		{csrs, "csr-pending", request("csr-pending"), "", ""},
		{csrs, "csr-approved", request("csr-approved"), "approval", `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"AutoApproved"}]}}`},
		{events, "bare.1", `{"metadata":{"name":"bare.1"},"involvedObject":{"kind":"Node","name":"bare","namespace":"default"},"type":"Normal","reason":"NodeNotReady","message":"Node bare status is now: NodeNotReady","firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z","count":2}`, "", ""},
		{events, "bare.2", `{"metadata":{"name":"bare.2"},"involvedObject":{"kind":"Node","name":"bare","namespace":"default"},"type":"Warning","reason":"Rebooted","message":"Node bare has been rebooted","action":"Rebooted","reportingComponent":"kubelet","reportingInstance":"bare",
			"eventTime":"2026-11-20T15:03:00.123456Z","series":{"count":2,"lastObservedTime":"2026-11-20T15:04:00.500000Z"}}`, "", ""},
		{events, "web-0.1", `{"metadata":{"name":"web-0.1"},"involvedObject":{"kind":"Pod","name":"web-0","namespace":"default"},"type":"Normal","reason":"Scheduled","message":"another","lastTimestamp":"2026-11-20T15:02:00Z"}`, "", ""},
		{events, "web-0.2", `{"metadata":{"name":"web-0.2"},"involvedObject":{"kind":"Pod","name":"web-0","namespace":"default"},"type":"Warning","reason":"FailedScheduling","message":"0/3 nodes are available","action":"Scheduling",
			"reportingComponent":"default-scheduler","reportingInstance":"scheduler-1","eventTime":"2026-11-20T15:03:00.000000Z"}`, "", ""},
		{podEvents, "coredns-1.1", `{"metadata":{"name":"coredns-1.1"},"involvedObject":{"kind":"Pod","name":"coredns-1","namespace":"kube-system"},"type":"Warning","reason":"FailedCreatePodSandBox",
			"message":"failed to assign an IP address to container","source":{"component":"kubelet","host":"bare"},"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z","count":3}`, "", ""},
		{events, "gpu-x7k2p.1", `{"metadata":{"name":"gpu-x7k2p.1"},"involvedObject":{"kind":"NodeClaim","apiVersion":"karpenter.sh/v1","name":"gpu-x7k2p"},"type":"Warning","reason":"InsufficientCapacityError",
			"message":"creating instance, insufficient capacity","source":{"component":"karpenter"},"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:00:00Z"}`, "", ""},
		{events, "gpu.1", `{"metadata":{"name":"gpu.1"},"involvedObject":{"kind":"NodePool","apiVersion":"karpenter.sh/v1","name":"gpu"},"type":"Warning","reason":"NoCompatibleInstanceTypes",
			"message":"NodePool requirements filtered out all instance types","source":{"component":"karpenter"},"firstTimestamp":"2026-11-20T15:01:00Z","lastTimestamp":"2026-11-20T15:01:00Z"}`, "", ""},
		{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "eniconfigs.crd.k8s.amazonaws.com", `{"metadata":{"name":"eniconfigs.crd.k8s.amazonaws.com"},"spec":{"group":"crd.k8s.amazonaws.com","scope":"Cluster",
			"names":{"plural":"eniconfigs","singular":"eniconfig","kind":"ENIConfig"},"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, "", ""},
		{eniConfigs, "us-west-2a", `{"apiVersion":"crd.k8s.amazonaws.com/v1alpha1","kind":"ENIConfig","metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-0a1b2c3d4e5f60718","securityGroups":["sg-0a1b2c3d4e5f60718"]}}`, "", ""},
		definition("nodepools", "nodepool", "NodePool", "karpenter.sh", "v1"),
		definition("nodeclaims", "nodeclaim", "NodeClaim", "karpenter.sh", "v1"),
		definition("ec2nodeclasses", "ec2nodeclass", "EC2NodeClass", "karpenter.k8s.aws", "v1"),
		definition("nodeclasses", "nodeclass", "NodeClass", "eks.amazonaws.com", "v1"),
		{nodePools, "gpu", `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"gpu"},"spec":{"limits":{"cpu":100,"memory":"400Gi"},"template":{"metadata":{"labels":{"team":"ml"}},
			"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"},"requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]}]}}},
			"status":{"resources":{"cpu":"96"},"conditions":[{"type":"NodeClassReady","status":"True","observedGeneration":1}]}}`, "", ""},
		{nodeClaims, "gpu-x7k2p", `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"gpu-x7k2p","labels":{"karpenter.sh/nodepool":"gpu"}},"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"}},
			"status":{"providerID":"aws:///us-west-2a/i-0a1b2c3d4e5f60718","nodeName":"bare"}}`, "", ""},
		{ec2Classes, "gpu", `{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","metadata":{"name":"gpu"},"spec":{"role":"node","subnetSelectorTerms":[{"tags":{"karpenter.sh/discovery":"prod"}}]}}`, "", ""},
		{autoClasses, "default", `{"apiVersion":"eks.amazonaws.com/v1","kind":"NodeClass","metadata":{"name":"default"},"spec":{"role":"auto","subnetSelectorTerms":[{"id":"subnet-0a1b2c3d4e5f60718"}]}}`, "", ""},
	}
}

// certificateRequest is what a kubelet sends for its serving certificate, in
// PEM and base64.
func certificateRequest(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:bare", Organization: []string{"system:nodes"}}, DNSNames: []string{"bare"},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}
