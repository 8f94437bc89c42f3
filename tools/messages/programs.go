package main

// program is one program whose messages are walked.
type program struct {
	name, module, version string
	// line is the form in which its log writes a message: {level}, {L} (its first letter),
	// {file} and {words}.
	line     string
	packages []walked
}

// walked are packages that are read, and what a join has to do with them.
type walked struct{ dirs, why string }

// The forms of lines: klog's, zap's JSON of the three that use it, and containerd's.
const (
	klogForm  = `Nov 28 10:00:00 ip-10-0-1-2 {program}[1234]: {L}1128 10:00:00.000000    1234 {file}:10] "{words}" err="some error"`
	zapForm   = `{"level":"{level}","time":"2026-11-28T10:00:00.000Z","logger":"controller","caller":"{file}:10","message":"{words}","error":"some error"}`
	ctrlForm  = `{"level":"{level}","ts":"2026-11-28T10:00:00.000Z","logger":"controller","caller":"{file}:10","msg":"{words}","error":"some error"}`
	cniForm   = `{"level":"{level}","ts":"2026-11-28T10:00:00.000Z","caller":"{file}:10","msg":"{words}"}`
	logrus    = `Nov 28 10:00:00 ip-10-0-1-2 {program}[1234]: time="2026-11-28T10:00:00.000Z" level={level} msg="{words}" error="some error"`
	nodeadmIn = `Nov 28 10:00:00 ip-10-0-1-2 nodeadm[1234]: {"level":"{level}","ts":1764324000.0,"caller":"{file}:10","msg":"{words}","error":"some error"}`
)

// programs are those that a join passes through, at the newest version that the Go module
// proxy has and that this toolchain takes.
func programs() []program {
	return []program{
		{"nodeadm", "github.com/awslabs/amazon-eks-ami/nodeadm", "v0.0.0-20240229193347-cfab22a10647", nodeadmIn, []walked{
			{"cmd/nodeadm/config cmd/nodeadm/init", "what AL2023 runs at boot: reads NodeConfig, starts containerd and the kubelet"},
			{"internal/api internal/api/bridge internal/configprovider", "NodeConfig: read from user data, merged, validated"},
			{"internal/aws/ecr internal/aws/imds internal/containerd internal/daemon internal/kubelet internal/system internal/cli internal/util",
				"what it asks AWS and the instance's metadata, and the configuration that it writes"},
		}},
		{"kubelet", "k8s.io/kubernetes", "v1.37.2", klogForm, []walked{
			{"cmd/kubelet/app cmd/kubelet/app/options pkg/kubelet/apis/config/validation pkg/kubelet/kubeletconfig/configfiles pkg/kubelet/kubeletconfig/util/codec",
				"the start: flags, configuration, clients, what makes it end"},
			{"pkg/kubelet", "registration, node status, the loop that waits for the runtime and the network"},
			{"pkg/kubelet/certificate pkg/kubelet/certificate/bootstrap", "its client and serving certificates, and their signing requests"},
			{"pkg/kubelet/nodestatus", "the conditions of the node"},
			{"pkg/kubelet/cm pkg/kubelet/cm/cpumanager pkg/kubelet/cm/memorymanager pkg/kubelet/cm/topologymanager",
				"the container manager, whose start fails on a kernel's or a cgroup's settings"},
			{"pkg/kubelet/eviction", "pressure, which makes a new node not ready or takes its first pods"},
			{"pkg/kubelet/images pkg/credentialprovider/plugin", "pulls of images and their credentials"},
			{"pkg/kubelet/kuberuntime", "pods' sandboxes and containers, of the network plugin's pods too"},
			{"pkg/kubelet/network/dns pkg/kubelet/sysctl pkg/kubelet/token pkg/kubelet/watchdog pkg/kubelet/pleg",
				"the resolver's file, sysctls, tokens of pods, health of the loop and of the runtime"},
			{"pkg/kubelet/server", "the server on port 10250 that the cluster's API calls"},
		}},
		{"kubelet's CRI client", "k8s.io/cri-client", "v0.37.2", klogForm, []walked{
			{"pkg pkg/util", "the kubelet's calls to containerd, each of which fails in its own words where containerd does not respond"},
		}},
		{"control plane", "k8s.io/kubernetes", "v1.37.2", klogForm, []walked{
			{"plugin/pkg/admission/noderestriction", "admission of what a kubelet writes: its name, its labels"},
			{"plugin/pkg/auth/authorizer/node", "what a node is allowed to read"},
			{"pkg/controller/certificates pkg/controller/certificates/approver pkg/controller/certificates/signer", "approval and signing of the kubelet's requests"},
			{"pkg/controller/nodelifecycle", "the taints and conditions of nodes that do not report"},
			{"pkg/scheduler/framework/plugins/volumebinding pkg/scheduler/framework/plugins/volumezone pkg/scheduler/framework/plugins/nodeunschedulable " +
				"pkg/scheduler/framework/plugins/tainttoleration pkg/scheduler/framework/plugins/nodeaffinity pkg/scheduler/framework/plugins/nodevolumelimits",
				"why a pod finds no node: zones of volumes, taints, labels"},
		}},
		{"cloud provider", "k8s.io/cloud-provider", "v0.37.2", klogForm, []walked{
			{"controllers/node controllers/nodelifecycle node/helpers", "initialization of a node: addresses, provider id, the uninitialized taint"},
		}},
		{"AWS cloud provider", "k8s.io/cloud-provider-aws", "v1.37.1", klogForm, []walked{
			{"pkg/providers/v1 pkg/providers/v1/config", "instances by name and id, zones, topology (load balancers too)"},
			{"pkg/controllers/tagging", "tags of instances that became nodes"},
			{"cmd/ecr-credential-provider", "the credentials with which the kubelet pulls from ECR"},
		}},
		{"containerd 2", "github.com/containerd/containerd/v2", "v2.4.2", logrus, []walked{
			{"internal/cri/server internal/cri/server/podsandbox internal/cri/config", "sandboxes, containers and networks of pods, and the configuration"},
			{"internal/cri/server/images core/remotes/docker core/remotes/docker/auth core/remotes/docker/config", "pulls: images, registries, their tokens"},
			{"cmd/containerd/command cmd/containerd/server cmd/containerd/server/config", "the start of the daemon"},
		}},
		{"containerd 1", "github.com/containerd/containerd", "v1.7.35", logrus, []walked{
			{"pkg/cri/server pkg/cri/config", "as above, of the line that AL2 and older AL2023 images have"},
			{"remotes/docker remotes/docker/auth services/server cmd/containerd/command", "pulls, and the start of the daemon"},
		}},
		{"VPC CNI", "github.com/aws/amazon-vpc-cni-k8s", "v1.23.2", cniForm, []walked{
			{"cmd/aws-k8s-agent cmd/aws-vpc-cni cmd/aws-vpc-cni-init", "the pod aws-node: its start, and the plugin's files"},
			{"cmd/routed-eni-cni-plugin cmd/routed-eni-cni-plugin/driver", "the plugin that gives a pod its address"},
			{"pkg/ipamd pkg/ipamd/datastore", "the daemon that keeps interfaces and addresses"},
			{"pkg/awsutils pkg/awsutils/awssession pkg/ec2wrapper", "calls of EC2 and of the metadata service"},
			{"pkg/networkutils pkg/k8sapi pkg/eniconfig pkg/utils/eventrecorder pkg/vpc", "routes and rules on the node, ENIConfigs, events"},
		}},
		{"VPC resource controller", "github.com/aws/amazon-vpc-resource-controller-k8s", "v1.8.2", ctrlForm, []walked{
			{"controllers/core pkg/node pkg/node/manager pkg/handler pkg/pool pkg/worker pkg/k8s pkg/condition pkg/resource",
				"nodes whose pods get branch interfaces or Windows addresses"},
			{"pkg/provider/branch pkg/provider/branch/trunk pkg/provider/branch/cooldown", "trunks and branch interfaces of security groups for pods"},
			{"pkg/provider/ip pkg/provider/ip/eni pkg/provider/prefix", "addresses of Windows nodes"},
			{"pkg/aws/ec2 pkg/aws/ec2/api pkg/aws/errors pkg/utils", "calls of EC2"},
		}},
		{"Karpenter", "sigs.k8s.io/karpenter", "v1.14.1", zapForm, []walked{
			{"pkg/controllers/nodeclaim/lifecycle pkg/controllers/nodeclaim/consistency pkg/controllers/nodeclaim/garbagecollection pkg/controllers/nodeclaim/hydration",
				"launch, registration, initialization and end of a NodeClaim"},
			{"pkg/controllers/provisioning pkg/controllers/provisioning/scheduling pkg/scheduling", "why no NodeClaim is made for a pod"},
			{"pkg/controllers/nodepool/readiness pkg/controllers/nodepool/validation pkg/controllers/nodepool/registrationhealth pkg/controllers/node/health pkg/controllers/state",
				"readiness of NodePools, health of nodes"},
			{"pkg/cloudprovider pkg/utils/nodeclaim pkg/utils/node", "errors that a cloud returns"},
		}},
		{"Karpenter's AWS provider", "github.com/aws/karpenter-provider-aws", "v1.14.1", zapForm, []walked{
			{"pkg/cloudprovider pkg/cloudprovider/events pkg/errors", "launches, and the codes of EC2 that they end with"},
			{"pkg/controllers/nodeclass", "status of an EC2NodeClass: images, subnets, groups, profile, validation"},
			{"pkg/controllers/nodeclaim/tagging pkg/controllers/nodeclaim/garbagecollection pkg/controllers/interruption pkg/controllers/interruption/events", "tags, leftovers and interruptions of instances"},
			{"pkg/providers/amifamily pkg/providers/amifamily/bootstrap pkg/providers/launchtemplate pkg/providers/instance pkg/providers/instanceprofile pkg/providers/instancetype " +
				"pkg/providers/subnet pkg/providers/securitygroup pkg/providers/capacityreservation pkg/providers/placementgroup pkg/providers/ssm pkg/providers/version pkg/batcher pkg/operator",
				"what a launch is made of: image, user data, template, fleet, profile, subnet, groups"},
		}},
		{"aws-iam-authenticator", "sigs.k8s.io/aws-iam-authenticator", "v0.6.13", logrus, []walked{
			{"pkg/server pkg/token pkg/arn pkg/ec2provider", "who a node is: its token, its role, its private DNS name"},
			{"pkg/mapper pkg/mapper/configmap pkg/mapper/configmap/client pkg/mapper/dynamicfile pkg/mapper/file pkg/config", "aws-auth and the other mappings"},
		}},
	}
}
