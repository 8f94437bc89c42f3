package main

// printed is the line in which a program prints errors that its functions return, where
// that is always the same: what a person pastes is this line and not the error alone.
type printed struct{ program, where, line string }

// printedAs are the lines that print what errors say.
func printedAs() []printed {
	const (
		kubelet = `Nov 28 10:00:00 ip-10-0-1-2 kubelet[1234]: E1128 10:00:00.000000    1234 `
		sandbox = kubelet + `pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \"CreatePodSandbox\" for \"app_default\" with CreatePodSandboxError: \"Failed to create sandbox for pod \\\"app_default\\\": rpc error: code = Unknown desc = `
		pull    = `Warning Failed pod/app-1 Failed to pull image "registry.example/app:1": rpc error: code = Unknown desc = failed to pull and unpack image "registry.example/app:1": `
		launch  = `{"level":"ERROR","time":"2026-11-28T10:00:00.000Z","logger":"controller","message":"failed launching nodeclaim","controller":"nodeclaim.lifecycle","error":"{words}"}`
		// The CRI plugin of containerd: its start fails, or it ends later and containerd with it.
		criPlugin = `Nov 28 10:00:00 ip-10-0-1-2 containerd[1234]: time="2026-11-28T10:00:00Z" level=warning msg="failed to load plugin" error="`
		criRun    = `Nov 28 10:00:00 ip-10-0-1-2 containerd[1234]: time="2026-11-28T10:00:00Z" level=fatal msg="Failed to run CRI service" error="`
		schedule  = `{"level":"ERROR","time":"2026-11-28T10:00:00.000Z","logger":"controller","message":"could not schedule pod","controller":"provisioner","error":"{words}"}`
	)
	return []printed{
		{"nodeadm", `.`, `Nov 28 10:00:00 ip-10-0-1-2 nodeadm[1234]: {"level":"fatal","ts":1764324000.0,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"{words}"}`},
		{"kubelet", `cmd/kubelet/app/|kubelet\.go (NewMainKubelet|Kubelet\.(setupDataDirs|initializeModules|Run))|pkg/kubelet/(apis/config|kubeletconfig)/|NewImageGCManager|` +
			`(cpumanager|memorymanager|topologymanager)/\S+ (New\w*|CheckPolicy\w+|Validate\w+|convertReserved|validateReservedMemory|getTotalMemoryTypeReserved)|` +
			`cm/container_manager\S* (NewContainerManager|validateSystemRequirements|Parse\w+|parsePercentage|getContainer)|cm/helpers_linux\.go getCgroupSubsystems|kubelet_pods\.go (Kubelet\.getKubeletMappings|parseGetSubIdsOutput)$|eviction/helpers\.go [Pp]arse|` +
			`credentialprovider/plugin/\S+ (Register|read|decode|newPlugin|validate)|certificate/bootstrap|certificate/(kubelet|transport)\.go (New|add|update)|` +
			`NewKubeGenericRuntimeManager|NewInitializedVolumePluginMgr|kuberuntime_manager\.go -|cgroupVersionCheck|sysctl/\S+ (New|get)|watchdog\S+ New`,
			kubelet + `run.go:72] "command failed" err="failed to run Kubelet: {words}"`},
		{"kubelet", `containerManagerImpl\.|(cpumanager|memorymanager)/\S+ \S+(Start|validateState|updateExpectedMachineState)$|setupKernelTunables|cgroupV\dimpl\.Validate|node_container_manager|qosContainerManagerImpl\.Start|ensureSystemCgroups`,
			kubelet + `kubelet.go:1566] "Failed to start ContainerManager" err="{words}"`},
		{"kubelet's CRI client", `validateServiceConnection|Builder\.Build|GetAddressAndDialer|parseEndpoint`, kubelet + `run.go:72] "command failed" err="failed to run Kubelet: validate service connection: {words}"`},
		{"kubelet", `createPodSandbox|generatePodSandbox|getDNSConfig|determinePodSandboxIPs`, sandbox + `{words}`},
		{"^(AWS )?cloud provider", `controllers/node/|node/helpers/address|providers/v1/instances(_v2)?\.go|aws_ec2\.go awsSdkEC2\.DescribeInstances$|zones\.go zoneCache\.(populate|getZone)|` +
			`aws\.go (Cloud\.(NodeAddresses|Instance\w+|findInstanceByNodeName|getInstanceByID|instanceIDToNodeName|nodeNameToInstanceID)|extractIPv\dNodeAddresses)$`,
			`E1128 10:00:00.000000       1 node_controller.go:236] error syncing 'ip-10-0-1-2.ec2.internal': failed to get node modifiers from cloud provider: {words}, requeuing`},
		{"control plane", `scheduler/framework/plugins/\S+ (-|\S*Filter)$`, `Warning FailedScheduling pod/app-1 0/3 nodes are available: 3 {words}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`},
		{"control plane", `noderestriction\S* Plugin\.(Admit|admitNode|admitCSR)$`, kubelet + `kubelet_node_status.go:110] "Unable to register node with API server" err="nodes \"ip-10-0-1-2.ec2.internal\" is forbidden: {words}" node="ip-10-0-1-2.ec2.internal"`},
		{"control plane", `node_authorizer`, kubelet + `reflector.go:200] "Failed to watch" err="failed to list *v1.Secret: secrets \"a\" is forbidden: User \"system:node:ip-10-0-1-2.ec2.internal\" cannot list resource \"secrets\": {words}"`},
		{"containerd", `ensureImageExists$`, sandbox + `failed to get sandbox image \\\"localhost/kubernetes/pause\\\": {words}`},
		{"containerd", `restart\.go (criService\.recover|cleanupOrphanedIDDirs)$|images/check\.go CRIImageService\.CheckImages$`, criRun + `failed to recover state: {words}"`},
		{"containerd", `criService\.Run$|cni_conf_syncer\S* \S*syncLoop`, criRun + `{words}"`},
		{"containerd", `cri/config/\S+ (Validate\w+|check\w+)$|ValidatePluginConfig`, criPlugin + `invalid plugin config: {words}" id=io.containerd.grpc.v1.cri type=io.containerd.grpc.v1`},
		{"containerd", `newTLSCert$`, criPlugin + `failed to create CRI service: failed to generate tls certificate for stream server: {words}" id=io.containerd.grpc.v1.cri type=io.containerd.grpc.v1`},
		{"containerd", `NewCRIService|newStreamServer|newCNINetConfSyncer|initPlatform`, criPlugin + `failed to create CRI service: {words}" id=io.containerd.grpc.v1.cri type=io.containerd.grpc.v1`},
		{"containerd", `cri/config/|cmd/containerd/|services/server|ValidatePluginConfig|NewCRIService|cni_conf_syncer|initPlatform|criService\.Run`,
			`Nov 28 10:00:00 ip-10-0-1-2 containerd[1234]: time="2026-11-28T10:00:00Z" level=fatal msg="containerd: {words}"`},
		{"VPC CNI", `imds\.go|awssession|ec2wrapper|k8sutils|awsutils\.go (New|EC2InstanceMetadataCache\.(initWith\w+|GetAttachedENIs|FetchInstanceType\w+|DescribeAllENIs|getENIMetadata)|instrumentedIMDS)|` +
			`(nf|ip)tables_connmark\.go \S*\.(Setup|Cleanup|ensure\w+|applyRules|buildRules)$|ipamd\.go (New|getNetworkPolicyMode|IPAMContext\.(nodeInit|setupENI|getMaxPodsFromFile|createSecondaryIPv6ENIs)|parseMaxPods\w+)|networkutils/network\.go (New|find\w+|linkByMac|setupENINetwork|linuxNetwork\.(Setup|setup|enable|create|build|update)\w+|listCurrent\w+)|vpc\.go`,
			`{"level":"error","ts":"2026-11-28T10:00:00.000Z","caller":"aws-k8s-agent/main.go:70","msg":"Initialization failure: {words}"}`},
		{"kubelet", `pkg/kubelet/images/image_manager|kuberuntime_image\.go \S+PullImage|credentialprovider`, pull + `{words}`},
		{"containerd", `sandbox_run|podsandbox/(helpers|controller)|RunPodSandbox|setupPodNetwork`, sandbox + `{words}`},
		{"containerd", `image_pull|remotes/docker/`, pull + `{words}`},
		{"VPC CNI", `routed-eni-cni-plugin/(cni\.go (add|LoadNetConf|CmdAdd)|driver/\S+ \S*([Ss]etup|createVeth|setHostVeth|generate|vlanID))|validateVersion`,
			sandbox + `failed to setup network for sandbox \\\"0123456789abcdef\\\": plugin type=\\\"aws-cni\\\" name=\\\"aws-cni\\\" failed (add): {words}`},
		{"Karpenter's AWS provider", `pkg/cloudprovider/cloudprovider\.go CloudProvider\.(Create|GetInstanceTypes|getInstanceType|resolveNodeClass\w*NodeClaim)$|` +
			`providers/instance/instance\.go DefaultProvider\.(Create|launchInstance|getLaunchTemplateConfigs|filterInstanceTypes)$|providers/launchtemplate/\S+ DefaultProvider\.(EnsureAll|ensure\w+|create\w+|ResolveClusterCIDR|CreateAMIOptions)$|` +
			`providers/(amifamily|subnet|instancetype|capacityreservation)/|batcher/createfleet`, launch},
		{"Karpenter's AWS provider", `providers/version/version\.go DefaultProvider\.UpdateVersion$|operator\.go (GetCABundle|ValidateZonalShiftEnablement)$`, `panic: {words}`},
		{"Karpenter's AWS provider", `providers/version/version\.go DefaultProvider\.get(K8s|EKS)Version$`, `panic: validating kubernetes version, {words}`},
		{"^Karpenter$", `nodeclaim/lifecycle/launch`, launch},
		{"^Karpenter$", `provisioning/scheduling|pkg/scheduling/`, schedule},
		{"aws-iam-authenticator", `pkg/(server|token|mapper|arn|ec2provider)`, `time="2026-11-28T10:00:00Z" level=warning msg="access denied" client="127.0.0.1:1" error="{words}" method=POST path=/authenticate`},
	}
}

// rules decide about messages that no row knows; the first that fits counts. Words are
// matched with the kind and the level in front, and "+err" behind them for a log line that
// has an error as a field: "log info+err Failed to …".
func rules() []rule {
	const fault = `fail|error|\+err|unable|can ?not|could ?n.t|could not|not found|invalid|tim(ed|e) ?out|unauthor|denied|insufficient|missing|warning:|exceed|exhaust|unreach|mismatch|is empty|garbage|does ?n.t exist|does not exist|is being evicted|oom\b|taskoom|different (numbers|groups)|not[ -]?ready|untolerated|unhealthy|present in cloud|crossed|configmap on delete|not fully bound|none available|different length|not have avail|back(ing)? ?-?off|message for container|unknown %s|no resolved|filtered out|dynamic resource|interruption message|unavailable|approaching|connection lost|unknown eni|success: %t|nil metadata|unresponsive|hasn.t been updated|` +
		`unexpected (type|response)|tombstone contained|presuming stale|kubeclient is nil|syncloop \(probe\)$|different number than|unknown (ipv6|%s) cidr|debug err$|\bevict|reclaim|forbidden|too old|didn.t have|limited resources|leaked eni pushed|not managed, but|not yet initialized|breach|trying next|after status|not present|duplicate|disabled due|in backoff|blackhol|deleted nodeclaim|larger than|unsupported configuration|no valid|belong|has no .*tag|have valid|not available|non schedulable|deny|no dynamic|unkown|waiting for|not able|do not mach|ipamd stopped|standalone|no api server|freeable|background|stop pulling|unparse|not (completed|support)|discrepan|old controller|instance id|no matching|not bound|forcibly|still held|were different|different (number of|memory)|are different$|event message for node|in new state|never updated|over the high|awaiting registration|defaulting to same subnet|sent pod event|SendPodEvent|differs from the number`
	healthy := func(name, program, where, words, not, why string) rule {
		return rule{classHealthy, name, program, where, words, not, why}
	}
	nothing := func(name, program, where, words, not, why string) rule {
		return rule{classNothing, name, program, where, words, not, why}
	}
	return []rule{
		healthy("a-step", "", "", `^log (info|debug|trace) `, fault, "a normal step: something is skipped, already there, or removed as intended"),
		healthy("pressure-gone", "kubelet", "nodestatus", `^condition False KubeletHas(Sufficient|No)`, "", "the node does not lack what the condition is about"),

		// Of no program's own subject.
		nothing("verbose", "^(kubelet|control|cloud|AWS|containerd|aws-iam|Karpenter)", "", `^log (debug|trace)`, "",
			"printed only at a verbosity that EKS and its images do not set; a failure has its own message"),
		nothing("encoding", "", "", `marshal|unmarshal|encod|serializ|programmer error|unable to convert|typeurl|type assertion|unexpected (object|type)|unknown type|two-way merge|deep ?copy|json:`,
			`config|user ?data|kubeconfig|toml`, "an encoding inside of a program; no setting of a node or an account changes it"),
		nothing("windows", "", `[wW]indows|hyperv`, "", "", "Windows nodes, which Rollcall does not diagnose"),
		nothing("tracing", "", "", `tracer|tracing|otel|\bpprof|profil(e|ing) server|configz|introspection|metrics? (server|endpoint)|prometheus`, "instance profile", "how a program is monitored, not what it does"),

		// The kubelet.
		nothing("pods-volumes", "kubelet", `kubelet_volumes|volume_host|kubelet_getters|Volume|makeMounts|resolveRecursiveReadOnly|runtime\w*RecursiveReadOnly|translateMount`, "", "", "volumes of pods on a node that runs"),
		nothing("pods-work", "kubelet", `kubelet_pods\.go|pod_workers|active_deadline|kubelet_resources|pod_container_deletor|Handle(Pod|Probe)|handleProbe|SyncPod|SyncTerminat|deletePod|rejectPod|tryReconcileMirror|syncLoop|`+
			`kuberuntime_container|kuberuntime_gc|kuberuntime/(labels|legacy|helpers|security_context)|kuberuntime_manager|kuberuntime_sandbox|pleg/evented|token/|StartGarbage|sysctl/allowlist`,
			"", `sandbox|network|runtime (is|status|version)|resolv|pod synchronization|typed version|create log directory for pod`, "a pod's containers, its resize or its end; the node has joined"),
		nothing("read-only-mounts", "kubelet", `kubelet_pods\.go`, `recursive read-only`, "", "a pod's mounts; the node has joined"),
		nothing("server-requests", "kubelet", `pkg/kubelet/server/|kubelet_server_journal|ListenAndServePod`, "", `listen and serve$|failed to listen`, "requests of others to the kubelet: logs, exec, attach, statistics"),
		nothing("eviction", "kubelet", `pkg/kubelet/eviction/`, "", "", "pods that are evicted from a node that runs; the pressure itself is a condition, which has rows"),
		nothing("image-gc", "kubelet", `image_gc|kuberuntime_image\.go \S*(RemoveImage|ImageStats|ImageSize|ListImages|ImageFsInfo)|GetImageRef`, "", "NewImageGC", "images that are removed for space, or counted"),
		nothing("pinning", "kubelet", `cpumanager|memorymanager|topologymanager`, "", "", "CPUs and memory that are pinned to pods; a wrong policy is an error of the kubelet's start, which has a row"),
		nothing("cgroups-of-pods", "kubelet", `pod_container_manager|cgroup_manager|cgroup_v\d_manager|cm/helpers|podContainerManager|isProcessRunning|ensureProcessInContainer|qosContainerManager`, "", "", "cgroups of pods on a node that runs"),
		nothing("resolver-limits", "kubelet", `network/dns`, `limit|DNSConfigForming|CheckLimits|DNSPolicy|DNS type|MissingClusterDNS|resolverConf|mounter`, "", "too many search domains or name servers for a pod; the node's own names are resolved"),
		nothing("token-of-pods", "kubelet", `pkg/credentialprovider`, `service account|cache ?key|singleflight|token`, "", "credentials that pods' service accounts have, not the node's role"),
		nothing("odd-lines", "kubelet", `cmd/kubelet/app|kubelet\.go|watchdog|pleg/generic|lockfile`, `rlimit|oom|cgroup container metrics|system container metrics|systemd|notify watchdog$|lock ?file|HTTP2|help. flag|TLS 1.3|MemoryQoS|not supported by|drop relist|relist|discard|Write status|node ip\(s\)|permissions|standalone|drop-in directory|initialize logging`,
			`pleg was|pleg has`, "a process limit or a startup notice; the kubelet continues"),

		nothing("runtime-calls", "kubelet's CRI client", `pkg/remote_`, `from (runtime|image) service failed|recv failed|stream`, "",
			"one call to the runtime; the codes of a runtime that does not respond (Unavailable, DeadlineExceeded) have rows"),
		nothing("runtime-fields", "kubelet's CRI client", "", "", "", "a field that containerd always fills, or a socket that other programs make"),

		// The control plane.
		nothing("dra", "", `dynamicresources|/dra|noderestriction|ResourceSlice|resourceClaims?`, `resource ?(claim|slice)|DRA|dynamic resource|resourceslice`, "", "devices that pods claim (DRA)"),
		nothing("noderestriction-other", "control plane", `noderestriction`, `pod|eviction|token|pvc|persistentvolumeclaim|csi ?node|lease|configmap|secret|ephemeral|mirror|trust ?bundle|certificate`, `node ".*" is not allowed|label|nodes|only access`, "what a kubelet writes about pods, volumes and leases, after its node has registered"),
		nothing("certificates-other", "control plane", `controller/certificates`, `sync|cache|queue|key`, "approv|sign|not recognized|unknown signer|rejected", "the controller's own queue"),
		nothing("zones-eviction", "control plane", `nodelifecycle`, "", `is not ?ready|unresponsive|registered|hasn.t been updated`, "taints and evictions of nodes that were ready before"),
		nothing("scheduler-state", "control plane", `scheduler`, `assum|cache|informer|prefilter|prebind|reserve|state|args|parse|nil|CSINode|list|get(ting)? |bind(ing)? volumes|timed? ?out|update|provision|revert|pre-score`, `didn.t match|did not match|conflict|zone|no available`, "the scheduler's own state"),

		// Cloud providers.
		nothing("load-balancers", "AWS cloud provider", `loadbalancer|LoadBalancer|ELB|SecurityGroup|aws_validations|Listener|TargetGroup|v2toStatus|Protocol|HealthCheck|aws_routes|DescribeSubnets|findSubnets|findELBSubnets|resolveSubnet|isSubnetPublic|getSubnetCidrs|parseInt32|config\.go (ELB|KMS)`, "", "",
			"load balancers and routes of the cluster's services"),
		nothing("tag-batches", "AWS cloud provider", `tags\.go|tags_batch|tagging/`, "", `multiple|clusterid|cluster tag|ambiguous`, "tags on instances whose nodes have joined"),
		nothing("aws-plumbing", "AWS cloud provider", `log_handler|retry_handler|Hasher|topology|aws_sdk|aws_utils|config\.go|describe_instance_batch|newAWSCloud2|init$|zones\.go`, "", "", "the provider's own start, batches and retries, in EKS's control plane"),
		nothing("lifecycle-gone", "cloud provider", `nodelifecycle|NewCloudNode|helpers/(taints|labels)`, "", "", "nodes whose instances ended, and the controllers' own start in EKS's control plane"),

		// containerd.
		nothing("containers", "containerd", `server/container_|cri/server/(list|metrics|events|blockio|rdt|update|status|restart\S* \S*(load|cleanup|createContainerIO)|nri|streaming\S* (streamRuntime|toCRI)|sandbox_(stats|port|remove|stop|status|list|service)|helpers|image_(remove|status|list|fs)|imagefs|snapshots)|server/images/(image_(remove|status|list)|snapshots|check|imagefs|metrics)|podsandbox/(recover|sandbox_(delete|stats|stop|status)|events)|sandbox_portforward`,
			"", `cni|network|failed to (load|create) cni|fsnotify|kernel version|SelinuxCategoryRange|podsanbox controller|NRI for CRI|failed to (list containers|check images)|TLS|X509|stream server|CDI registry|introspect runtime|(pull|get) image .*(pulling|pause|%q: %w)$`, "containers, statistics and streams of a node that runs, and pods that end"),
		nothing("pushes", "containerd", `docker/(pusher|converter|referrers|status|schema1|warnings)|publish|httpreadseeker \S*Seek`, "", "", "pushes and conversions of images, which a node does not do"),
		nothing("ttrpc-and-blocks", "containerd", `services/server|cmd/containerd`, `ttrpc|debug|metrics|oom|shim|event|plugin (already|not)|proxy|namespace|boltdb|content store`, "", "services inside of containerd"),
		nothing("seek", "containerd", `httpreadseeker|handler\.go|MatchLocalhost|memoryStatus|AppendDistribution|makeStringSlice`, "", "failed open", "reading on in a download"),

		// VPC CNI.
		nothing("teardown", "VPC CNI", ` (del|\S*[Tt]eardown\S*|tryDelWithPrevResult|getContainerNetworkMetadata|main)$|Delete(From|To)Container|UnassignPod|linuxNetwork\.(Delete|Cleanup)|Dealloc|DelIPv|DelNetwork|deallocate|freeENI|deleteENI|[Ll]eakedENI|[gG]etDeletable|CheckFreeable|tryUnassign|decreaseDatastore|RemoveENI|removeENI|PruneStale`, "", "",
			"the end of a pod, or of an interface that is not needed any more"),
		nothing("annotations", "VPC CNI", `AnnotatePod|introspect|eventrecorder|publisher|metrics`, "", "", "annotations, events and introspection"),
		nothing("reconcile-bookkeeping", "VPC CNI", `datastore|Reconcile|logOutOfSync|verifyAndAdd`, "", `failed to (fetch|get attached|set up)|no (eni|available)|exhaust|recovery|reading datastore|normalize`, "the daemon's records of addresses, which it corrects by itself"),
		nothing("optional-settings", "VPC CNI", "", `^log (warn|info|debug)\S* .*(env|default|falling back|is not set|ignoring|parse|kernel lacks)`, "", "an optional setting that is missing or invalid; the default is used"),
		nothing("hyperpod", "", "", `hyperpod|sagemaker`, "", "nodes of SageMaker HyperPod"),
		nothing("nft-cleanup", "VPC CNI", `networkutils/\S+ \S*(Cleanup|cleanup|CleanUp|Stale|UpdateExternal|UpdateRule|SetupHostNetwork)`, `delet|cleanup|clean up|nft|stale`, "", "rules of older releases that are removed"),

		// VPC resource controller.
		nothing("vrc-other", "VPC resource controller", `pkg/(healthz|worker)|cninode|introspect|pool\.go|utils/(events|map|gid)|cooldown|api/cleanup`, "", `insufficient|not enough|exhaust`, "the controller's queues, and interfaces that it removes"),

		// Karpenter.
		nothing("disruption", "^Karpenter", `statenode\.go|StateNode|disruption|drift|consistency|interruption/|garbagecollection|finalize|cleanup\w*Profile|CloudProvider\.(Delete|Get|List)|DefaultProvider\.Delete|terminateinstances|Terminate|hydration|node/health|nodeclass/events`, "", "garbage collect|interruption message",
			"nodes that have joined: drift, disruption, interruption, removal"),
		nothing("buffers-and-devices", "^Karpenter", `buffers|dra\.go|dynamic`, "", "", "capacity buffers and devices"),
		nothing("listing", "^Karpenter", "", `^error - (listing|tracking|gathering|parsing selector|updating (inverse|affinities)|getting (pods|node|daemon|CSINode|current|allocated|existing|instance id)|checking (host|volume)|patching|removing|deleting|adding)`, "capacity reservations|instance types|role|getting node for|patching node",
			"an object that Kubernetes's API did not return or accept; the call is retried"),

		// Codes.
		nothing("ssm-documents", "SSM codes", "", "", `code \S+ (Parameter(NotFound|VersionNotFound)|Throttling|InvalidKeyId)`, "documents, commands, inventories and maintenance windows of Systems Manager; a launch reads a parameter"),
		nothing("kms-stores", "KMS codes", "", "", `code \S+ (Disabled|NotFound|KMSInvalidState|KeyUnavailable|DependencyTimeout|LimitExceeded|InvalidArn|InvalidKeyUsage|InvalidGrantToken|IncorrectKeyException|InvalidCiphertext|KMSInternal)`,
			"key stores, imports, aliases and signatures; a volume's key is granted and decrypts"),
		nothing("iam-users", "IAM codes", "", "", `code \S+ (NoSuchEntity|EntityAlreadyExists|ConcurrentModification|ServiceFailure|EntityTemporarilyUnmodifiable|UnmodifiableEntity|DeleteConflict|MalformedPolicyDocument|PolicyNotAttachable)`,
			"users, certificates, reports and organizations; a node has a role and a profile"),
		nothing("sts-others", "STS codes", "", "", `code \S+ (InvalidIdentityToken|IDPCommunicationError|IDPRejectedClaim|PackedPolicyTooLarge|MalformedPolicy)`, "sessions that people make; a node's role is assumed by EC2"),
		nothing("idempotent", "Auto Scaling codes", "", `IdempotentCall`, "", "the same call is already in progress"),

		// What is left of programs, part by part.
		nothing("deprecations", "", "", `deprecat|migrat`, "no longer supported", "still works, but not in a later release"),
		nothing("control-plane-start", "control plane|cloud provider", `ValidateInitialization|(plugins|controllers|volumebinding)/\S+ New\w*$|ca_provider|certificate_controller|passive_assume|IndexFunc|RunWithContext|Cloud\.Initialize|buildSelf|findVPCID|azToRegion|RulesFor`, "", "", "the start and caches of controllers that EKS runs"),
		nothing("noderestriction-pods", "control plane", `noderestriction\S* \S*(admit(PVC|Pod|CSINode|ServiceAccount|Lease|Resource|Event)|validateNodeServiceAccount)`, "", "", "what a kubelet writes of pods and volumes, after its node is there"),
		nothing("volume-state", "control plane", `nodevolumelimits|volumebinding|volumezone`, `translat|converting|no name|no pv name|being deleted|waiting for|reset|no class|not set for|not exist|storage class|looking up|object is not|label selector|check binding|no pod volume`, "",
			"a claim that is incomplete or not ready; no node or zone is at fault"),
		nothing("csr-writes", "control plane", `certificates/(signer|approver)`, `updating|adding|parse csr|unrecognized signer`, "", "the controller's own writes, which it repeats"),
		nothing("labels-by-cloud", "cloud provider", `controllers/node/|instances_v2|node/helpers`, `label|topology|resource key|monitoring|patching|^error - InstanceType|^error - Zone`, "", "labels and addresses of a node that is initialized, which are written again"),
		nothing("gone-instances", "AWS cloud provider", `InstanceExists|Shutdown|InstanceID$|InstanceType$|getInstancesByNodeNames|mapToAWSInstanceIDs|IndexFunc|findInstanceByNodeName|nodeNameToInstanceID|instanceIDToNodeName|awsTagging|route|zones`, "", "multiple|clusterID|for AWS instance", "instances that ended, and look-ups for load balancers"),
		nothing("ecr-plugin", "AWS cloud provider", `ecr-credential-provider`, `nil|empty|group|kind|media|version|arn provided|sts client|assume role|parsing|no region`, "", "an incomplete request of the kubelet, or credentials of a pod's service account"),

		nothing("iptables-hints", "kubelet", `kubelet_network_linux`, "", "", "a hint for other programs in the node's firewall; without it the node joins"),
		nothing("node-cache", "kubelet", `nodecache|fastStaticPods|updatePodCIDR|NewMainKubelet`, `cache|mirror|node is newer|pod ?cidr|static|list node|registered|clusterDNS`, "", "the kubelet's copy of its node, and addresses of pods that EKS does not give by it"),
		nothing("selinux-dirs", "kubelet", `setupDataDirs|cgroupVersionCheck|Kubelet\.Run`, `selinux|cgroup`, "", "a context of folders; containers work without it"),
		nothing("plugin-protocol", "kubelet", `credentialprovider`, `GVK|apiVersion|unexpected (kind|group)|cache|response type|docker config`, "", "what a custom plugin returns; the ECR plugin of the image uses this protocol"),
		nothing("file-certificates", "kubelet", `DynamicFile|Enqueue|private key file`, "", "", "certificates from files, which EKS does not use"),

		nothing("sandbox-options", "containerd", "", `userns|user namespace|uid mapping|gid mapping|mapping line|selinux|kvm|'level'|untrusted|nri|seccomp|portforward|closed|destroy|remove network|unmount|symlink|metadata extension|extensions|lease|blockio|rdt|bandwidth|ip_pref|ipc|stats|store:`, "CategoryRange|NRI for CRI",
			"what a pod asks for itself, and what is removed after it"),
		nothing("sandbox-later", "containerd", `sandbox_(update|stop|remove|stats|portforward)|teardownPodNetwork|writeCNIConfig|update_runtime_config|Wait$|handleSandboxTaskExit|controller\.go init|getMetadata|Server\.Stop|LoadPlugins|warning`, "", "", "pods that run, change or end, and containerd's own end"),
		nothing("image-store", "containerd", `UpdateImage|updateImage|fetcher|resolver|hosts\.go|image_pull|config/config`, `image store|get image id|managed label|reference by|image by reference|id reference|offset|range|redirects|bufpipe|descriptor size|no timeout|deprecated|not supported with|moved to|credential handler|expected|annotation|slice|transfer|argument|stopped after`, "status code|config version",
			"containerd's own records of images, and resumed downloads"),

		nothing("observers", "VPC CNI", `_main|startBackground|SetAPIServerConnectivity|rpc_handler|k8sutils`, `recreate|cache|direct mode|annotation|multi-nic|annotat|IPAMKey|CIDR:`, "", "what the daemon does besides assigning addresses"),
		nothing("rules-of-pods", "VPC CNI", `UpdateExternal|UpdateHostSNAT|updateCIDRs|configureIPRules|UpdateRuleList|Stale|parseCIDR|getBool|typeOfSNAT|GetPodMTU`, "", "", "rules for addresses outside the VPC, renewed while the node runs"),
		nothing("optional-tags", "VPC CNI", "", `tag(ging)? |tagged|delete_on_termination|DeleteOnTermination|SG:|security groups available|feature|TrackingSettings|chains|primary ENI is|Network Card data`, "no valid subnets", "a tag, a feature or a mark that is written again"),
		nothing("ipv6-pods", "VPC CNI", `driver\.go|imds\.go|generateJSON`, `v6`, "config|AssignIpv6", "IPv6 of pods beside IPv4"),
		nothing("debug-steps", "VPC CNI", "", `^log (debug|warn)\S* .*(attempt|wanted|match link|warning: |stale|pruning|discover|checkAPIError|trying to|could not get|will not try|not detaching|not able to|freeable|non schedulable|available yet|belong|has no|have valid|treating as|running|skipping)`, "max retry|unavailable|set up ENI|allocate ENI|checkAPIError", "one of several attempts; the failure has its own message"),

		nothing("vrc-windows", "VPC resource controller", `provider/(ip|prefix)/|warm\.go|pool/|configmap|ConfigMap|AdvertiseCapacity|Deconstruct|IsOldVPC`, "", "", "addresses of Windows nodes, which Rollcall does not diagnose"),
		nothing("vrc-gone", "VPC resource controller", `Delete|delete|manager\.check|performAsync|freeVlan|ReSync|ProcessAsync|ReconcileNode|NodeReconciler|PodReconciler|NewResourceManager|httpClient|helper\.go (Int|GetSource|SecurityGroup)`, "", "initialize", "nodes and pods that are gone, and the controller's own queue"),
		nothing("vrc-shape", "VPC resource controller", "", `invalid (count|vland|job)|association id|attachment id|details not returned|empty network interface|cannot specify|already exist|cache|not ?found in ec2|unused vlan|limit file|ARN format|resource was not|handled resource|regional|identity document|throttling|reate limited|wrong job`, "",
			"a response that EC2 does not give, or its own records, which it corrects"),

		nothing("authenticator-files", "aws-iam-authenticator", `filecache|mapper/(file|dynamicfile)|GenerateFiles|Webhook|configmap/client|CallBack|ValidateBackend|BuildMapper|server\.go New|stsHosts|newSession|GetWithOptions|config\.go`, "", "", "files, back ends and clients that EKS's authenticator does not have"),
		nothing("authenticator-requests", "aws-iam-authenticator", `authenticateEndpoint|startLoadConfigMap`, "", "pars", "the webhook's own requests and watches"),

		nothing("karpenter-watches", "^Karpenter", `operator|version/|pkg/state|state/cluster|preferences|Scheduler\.Solve|topology\.go|Hasher|batcher|hydrate|InvalidateCache|cachedEvicted|DeleteAll|tagging|CreateTags|drift|checkODFallback|garbage`, "", "connectivity|endpoint|not compatible|unauthor|region|error while batching|cluster sync|state sync|garbage", "caches, tags and watches, which are read or written again"),
		nothing("pvc-shape", "^Karpenter$", `volumetopology|volumeusage|volumeTopology|existingnode|hostport`, "", "zone|incompatible", "volumes and ports of a pod that no node is at fault for"),
		nothing("pods-not-for-it", "^Karpenter$", `GetPendingPods|Results\.Record|ValidatePersist|validateNodeSelector|getPersistent|getStorage|getRequirements|offeringsToReserve`, "", "could not schedule", "pods that Karpenter leaves to others, or that name what is not there"),
		nothing("cpu-count", "nodeadm", `resources\.go|getCPU`, "", "", "CPUs are counted for what the kubelet reserves; a default is taken"),
		healthy("settings-printed", "", "", `^log (info|debug) (using http_timeout|connection tracking settings|instance type limits are missing)|^event Normal (Pulled|SecurityGroupRequested)`, "", "a setting that is printed, or an image that is there"),
		nothing("sandboxes-that-end", "kubelet", `GetPortForward|containerGC|doPodResize|killPod|updatePodSandbox|getSandboxIDByPodUID|EventedPLEG|GetDynamicResources|SetupDNSinContainerized|ReadOnlyServer|setters\.go (Images|VersionInfo)|recordEvent$|GetPodStatus|sysctl/`, "", "", "pods that run or end, and parts of the kubelet that EKS does not use"),
		nothing("kubelet-notices", "kubelet", "", `marshal effective|register config$|inotify|lenient decoding|PossibleMemoryBacked|ErrImageNeverPull|apply default image tag|has been rebooted|sandbox ready callback|network information|oom score|UserNS|unsupported configuration`, "", "a notice after which the kubelet goes on"),
		nothing("containerd-start-notices", "containerd", `cmd/containerd|services/server|cri/config|cri/server/(service|cni_conf)`, `ambiguous|does not implement|conf dir is removed|sandbox should not`, "", "a notice, or a setting of other kinds of hosts"),
		nothing("sandbox-book", "containerd", `podsandbox/(store|helpers)|sandbox_run`, `pod sandbox with id|should not be nil|metadata|sandbox pid|sandbox status|status of pod sandbox|save sandbox|cleanup sandbox|pod sandbox exit|hostname|ns src|pinned|netns|empty file|removing`, "network namespace", "containerd's own records of sandboxes"),
		nothing("running-instances", "^Karpenter's", `resolve(InstanceType|NodeClass)FromInstance|DefaultProvider\.(Get|List)$|instancesFromOutput|CapacityReservation\.Reconcile`, `^error - (resolving|getting instances|expected a|failed to describe ec2|describing ec2)|^log error failed to parse|^error - instance not found`, "", "instances that are there"),
		nothing("karpenter-own", "^Karpenter", "", `CapacityBuffer|configured to not run|Windows|variant is not|updating topology|duplicate nodeclaims|no nodeclaims found`, "", "Karpenter's own environment, and duplicate or missing objects"),
		nothing("vrc-notices", "VPC resource controller", "", `de initialize|get list of pod|event advertis|pushed the ENIs|vlan tag|moving the ENI|SecurityGroupRequested|rate limited`, "", "what is put back after a failure that has a message of its own"),
		nothing("plugin-undo", "VPC CNI", "", `DelNetwork|release IP|SetupNSFailed|remove ENI|subnet-exclusion|subnet exclusion|as excluded|unable to detach|attachment ID|wrong client version`, "", "what is undone after a failure that has a message of its own"),
		healthy("first-start", "", "", `^log info chain does not exists|No valid private key and/or certificate found, reusing|background API server check completed`, "", "the first start on a node"),
		nothing("stats-and-addresses", "kubelet", "", `PodSandboxStats|unparseable|no events will be sent`, "", "statistics and further addresses of pods, or a kubelet without a cluster"),
		nothing("recovery-lines", "containerd", `restart\S* criService\.recover`, `^log `, "", "one container or sandbox of an earlier start that is not read again; the others are"),
		nothing("containers-later", "containerd", `container_(create|stop|status|image_mount)|criService\.(Close|Run)`, `image|stream server|stop cri|event monitor`, "", "containers of a node that runs, and containerd's own end"),
		nothing("user-data-size", "^Karpenter", "", `approaching the EC2 user data|deleted nodeclaim`, "", "a limit that is near and not reached, and a NodeClaim that is removed"),
		nothing("vrc-later", "VPC resource controller", "", `limited resources|leaked eni pushed|not managed, but|not yet initialized`, "", "pods that came before the controller knew their node, which it handles again"),
		nothing("pull-of-any-image", "containerd", `remotes/docker|image_pull|cri/server/helpers\.go|container_create`, "", "",
			"the pull of any image; the pause image, and the timeout or refusal behind a failed pull, have rows"),
		nothing("image-of-a-pod", "kubelet", `pkg/kubelet/images|kuberuntime_image`, "", "", "the pull of any image, as in its pod's event"),
		nothing("containerd-plugins", "containerd", `services/server|cmd/containerd/server`, `time duration|plugin result|failed to load plugin|failed to dial`, "",
			"a plugin that containerd can go without; one that it needs is named as required, and has a row"),
		nothing("containerd-recovery", "containerd", `introspectRuntimeFeatures|initPlatform|service_linux`, "", "",
			"what the CRI plugin reads about the host and a runtime at startup"),
		nothing("reason-behind-it", "kubelet", `syncLoop|runtimeErrors|pleg/|fastNodeStatusUpdate|tryUpdateNodeStatus|setNodeStatus|updateNode|recordNodeStatusEvent|watchdog|getTypedVersion|createPodSandbox`, "", "",
			"half of a line whose other half has a row, or a line that every start writes until the runtime first responds"),
		nothing("kubelet-goes-on", "kubelet", `CheckpointContainer|LoadClientCert|SyncPod|NodeAddress|server\.go run|container_manager_linux\.go \S+Start|setupKernelTunables|Kubelet\.Run`, "", "",
			"the kubelet continues, or logs the error again when it exits"),
		nothing("denied-to-a-node", "control plane", `node_authorizer`, "", "", "the control plane's log of what it rejected; the kubelet's line about it has a row"),
		nothing("what-pods-ask-for", "control plane", `scheduler/`, "", "", "what one pod asks for and nodes do not have; volumes and zones have rows"),
		nothing("signer", "control plane", `signer\.go`, "", "", "the condition's reason, which has a row with its words"),
		nothing("aws-node-inner", "VPC CNI", `startBackgroundAPIServerCheck|aws-vpc-cni/main\.go|awsutils\.go (-|.*(DescribeAllENIs|GetENISubnetID|awsGetFreeDeviceNumber|checkAPIError))|`+
			`MyENIConfig|SetAPIServerConnectivity|nodeIPPoolReconcile|setupENI|contains\w+Error|containsInsufficient|AddNetwork|connmark`, "", "", "a constant or the inner words of an error whose line has a row, and notices of what is tried again"),
		nothing("vrc-inner", "VPC resource controller", `GetSubnet|getClientUsingAssumedRole|getInstanceConfig|IsPodSGPEnabled|UpdateResources|isSelectedForManagement|DeInitResource`, "", "", "the controller's own configuration, which EKS keeps, and notices of what is tried again"),
		nothing("karpenter-inner", "^Karpenter", `launchNodeClaim|addToNewNodeClaim|updateNodePoolRegistrationHealth|registration\.go|registrationhealth|CreateNodeClaims|NewScheduler|Schedule|PodFailedToSchedule|interruption/|`+
			`garbageCollect|validation\.go|launchInstance|updateUnavailableOfferingsCache`, "", "", "outer words of an error whose cause stands behind them, and notices of work that goes well"),
		nothing("arn-shape", "aws-iam-authenticator", `pkg/arn|ec2provider`, "", "", "the inner words of a refusal, whose line has a row"),
		nothing("asked-too-often", "SSM", "", "ThrottlingException", "", "retried by the SDK"),
		nothing("default-pods", "nodeadm", `eni_max_pods`, "", "", "a default is taken"),
	}
}
