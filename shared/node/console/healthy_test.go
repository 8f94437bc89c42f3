package console

// healthy are consoles of nodes that joined, with the noise that they have:
// retries, refused connections and nodes not found yet.
func healthy() map[string]string {
	return map[string]string{
		"AL2023": `[    0.000000] Linux version 6.1.112-124.190.amzn2023.x86_64 (mockbuild@ip-10-0-35-65) (gcc (GCC) 11.4.1, GNU ld version 2.39) #1 SMP PREEMPT_DYNAMIC
[    0.000000] Command line: BOOT_IMAGE=(hd0,gpt1)/boot/vmlinuz-6.1.112 root=UUID=9c4c root=/dev/nvme0n1p1 console=tty0 console=ttyS0,115200n8 nvme_core.io_timeout=4294967295 rd.emergency=poweroff rd.shell=0 selinux=1 security=selinux quiet
[    0.416250] pci 0000:00:01.3: quirk: [io  0xb100-0xb10f] claimed by PIIX4 SMB
[    1.812350] systemd[1]: Hostname set to <localhost>.
` + "\x1b[0;32m  OK  \x1b[0m" + `] Reached target Local File Systems.
[  OK  ] Started systemd-networkd.service - Network Configuration.
         Starting cloud-init-local.serv… Initial cloud-init job (pre-networking)...
[    7.226001] cloud-init[1451]: Cloud-init v. 22.2.2 running 'init-local' at Fri, 20 Nov 2026 14:50:31 +0000. Up 7.10 seconds.
         Starting nodeadm-config.service - EKS Nodeadm Config...
[    8.100211] nodeadm[1495]: {"level":"info","ts":1795186232.5766215,"caller":"init/init.go:60","msg":"Loading configuration..","configSource":"imds://user-data"}
[    8.101922] nodeadm[1495]: SDK 2026/11/20 14:50:32 DEBUG request failed with unretryable error http response error StatusCode: 404, request to EC2 IMDS failed
[    8.110211] nodeadm[1495]: {"level":"info","ts":1795186232.5801215,"caller":"init/init.go:157","msg":"Fetching instance details.."}
[    8.120211] nodeadm[1495]: SDK 2026/11/20 14:50:32 DEBUG attempting waiter request, attempt count: 1
[    9.120211] nodeadm[1495]: SDK 2026/11/20 14:50:33 DEBUG retrying request EC2/DescribeInstances, attempt 2
[  OK  ] Finished nodeadm-config.service - EKS Nodeadm Config.
2026-11-20 14:50:35,001 - __init__.py[WARNING]: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'---'...'
[   12.013431] cloud-init[1629]: Cloud-init v. 22.2.2 running 'modules:final' at Fri, 20 Nov 2026 14:50:36 +0000. Up 12.01 seconds.
ci-info: no authorized SSH keys fingerprints found for user ec2-user.
-----BEGIN SSH HOST KEY KEYS-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAXf1d8nqHUjszdZeqzZ134kJXGbHGYvNf root@ip-10-42-192-10.us-west-2.compute.internal
-----END SSH HOST KEY KEYS-----
         Starting cloud-final.service - Execute cloud user/final scripts...
[   12.410000] cloud-init[1629]: Cloud-init v. 22.2.2 finished at Fri, 20 Nov 2026 14:50:36 +0000. Datasource DataSourceEc2.  Up 12.40 seconds
         Starting nodeadm-run.service - EKS Nodeadm Run...
[   13.000111] nodeadm[1701]: {"level":"info","ts":1795186237.1,"caller":"containerd/sandbox.go:49","msg":"Pulling sandbox image..","image":"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10"}
[   13.200111] nodeadm[1701]: E1120 14:50:37.699880    1584 remote_image.go:135] PullImage "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10" from image service failed: rpc error: code = Unavailable desc = connection error
[  OK  ] Started containerd.service - containerd container runtime.
[  OK  ] Started kubelet.service - Kubernetes Kubelet.
[  OK  ] Finished nodeadm-run.service - EKS Nodeadm Run.
[   15.200111] kubelet[1790]: E1120 14:50:39.699880    1790 kubelet_node_status.go:107] "Unable to register node with API server" err="Post \"https://ABCD.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.42.0.5:443: i/o timeout" node="n"
[   15.300111] kubelet[1790]: E1120 14:50:39.799880    1790 kubelet.go:3190] "No need to create a mirror pod, since failed to get node info from the cluster" err="node \"n\" not found" node="n"
[   15.400111] kubelet[1790]: E1120 14:50:39.799880    1790 kubelet.go:2451] "Error getting node" err="node \"n\" not found"

Amazon Linux 2023
Kernel 6.1.112-124.190.amzn2023.x86_64 on an x86_64 (-)

ip-10-42-192-10 login: `,
		"AL2": `[    0.000000] Linux version 5.10.228-219.884.amzn2.x86_64 (mockbuild@ip-10-0-60-11) (gcc10-gcc (GCC) 10.5.0) #1 SMP
[    0.561250] nvme nvme0: pci function 0000:00:04.0
[    2.120450] systemd[1]: Detected virtualization kvm.
[  OK  ] Reached target Basic System.
[   11.220113] cloud-init[2893]: Cloud-init v. 19.3-46.amzn2.0.2 running 'modules:final' at Fri, 20 Nov 2026 14:50:36 +0000. Up 11.20 seconds.
[   12.000000] cloud-init[2893]: + /etc/eks/bootstrap.sh prod --apiserver-endpoint https://ABCD.gr7.us-west-2.eks.amazonaws.com --b64-cluster-ca LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMr
2026-11-20T14:50:37+0000 [eks-bootstrap] INFO: starting...
2026-11-20T14:50:38+0000 [eks-bootstrap] INFO: Using kubelet version 1.32.9
2026-11-20T14:50:38+0000 [eks-bootstrap] INFO: --cluster-name is prod
Created symlink from /etc/systemd/system/multi-user.target.wants/containerd.service to /usr/lib/systemd/system/containerd.service.
         Starting pull sandbox image defined in containerd config.toml...
[   17.100000] pull-sandbox-image.sh[3307]: Attempt 1 of 5
[  OK  ] Started pull sandbox image defined in containerd config.toml.
[  OK  ] Started Kubernetes Kubelet.
2026-11-20T14:50:44+0000 [eks-bootstrap] INFO: complete!
[   19.100000] cloud-init[2893]: Cloud-init v. 19.3-46.amzn2.0.2 finished at Fri, 20 Nov 2026 14:50:44 +0000. Datasource DataSourceEc2.  Up 19.09 seconds
kubelet: W1120 14:50:45.299880 3401 reflector.go:324] failed to list *v1.Node: Unauthorized
kubelet: E1120 14:50:46.299880 3401 kubelet.go:2272] node "ip-10-42-192-10.us-west-2.compute.internal" not found
kubelet: I1120 14:50:48.299880 3401 kubelet_node_status.go:73] "Successfully registered node" node="ip-10-42-192-10.us-west-2.compute.internal"

Amazon Linux 2
ip-10-42-192-10 login: `,
		"Bottlerocket": `[    0.000000] Linux version 6.1.112 (builder@buildkitsandbox) (x86_64-bottlerocket-linux-gnu-gcc (GCC) 11.3.0) #1 SMP PREEMPT_DYNAMIC
[    0.000000] Command line: BOOT_IMAGE=(hd0,gpt3)/vmlinuz console=tty0 console=ttyS0,115200n8 net.ifnames=0 netdog.default-interface=eth0:dhcp4,dhcp6? quiet bootconfig root=/dev/dm-0 rootwait ro
[    1.310112] systemd[1]: Welcome to Bottlerocket OS 1.26.1 (aws-k8s-1.31)!
[  OK  ] Reached target Preparation for Network.
[  OK  ] Finished Bottlerocket userdata configuration system.
         Starting User-specified setting generators...
[    5.120001] sundog[1343]: 14:50:33 [INFO] Retrieved settings generators
[    5.420001] pluto[1350]: 14:50:33 [ERROR] EC2 DescribeInstances attempt failed, will retry: code=InvalidInstanceID.NotFound message=The instance ID does not exist
[  OK  ] Finished User-specified setting generators.
[  OK  ] Unmounted EFI System Partition Automount.
[  OK  ] Started containerd container runtime.
         Starting Kubelet...
[  OK  ] Started Kubelet.
[  OK  ] Reached target Bottlerocket final configuration complete.
[   12.040001] host-ctr[1502]: time="2026-11-20T14:50:41Z" level=info msg="pulling with Amazon ECR Resolver" ref="ecr.aws/arn:aws:ecr:us-west-2:328549459982:repository/bottlerocket-control:v0.7.20"
[   13.040001] host-ctr[1502]: time="2026-11-20T14:50:42Z" level=warning msg="failed to pull image. waiting 1s before retrying..." error="failed to resolve reference: i/o timeout"
`,
	}
}
