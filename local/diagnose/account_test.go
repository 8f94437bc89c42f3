package diagnose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
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
