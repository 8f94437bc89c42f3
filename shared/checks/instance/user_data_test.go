package instance

import (
	"bytes"
	"compress/gzip"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// overBudget is user data of 2 KB that unpacks to more than is read.
func overBudget() string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte("#!/bin/bash\n" + strings.Repeat("echo hello\n", 100_000)))
	_ = w.Close()
	return b.String()
}

// toldAs sets the user data of the instances, which have not joined.
func toldAs(data string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		s.UserData[0].Data = []byte(data)
	}
}

// instead is the usual user data with a part replaced.
func instead(old, with string) func(*snapshot.Snapshot) {
	data := strings.Replace(snapshottest.NodeConfig, old, with, 1)
	if data == snapshottest.NodeConfig {
		panic("nothing to replace: " + old)
	}
	return toldAs(data)
}

// selfManaged takes the node group away.
func selfManaged(s *snapshot.Snapshot) {
	for i := range s.Instances {
		delete(s.Instances[i].Tags, "eks:nodegroup-name")
		delete(s.Instances[i].Tags, "eks:cluster-name")
	}
}

func custom(s *snapshot.Snapshot) { s.Nodegroups[0].AMIType = "CUSTOM" }

// runsImage gives the instances an image.
func runsImage(name, owner string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Images[0].Name, s.Images[0].OwnerAlias = name, owner }
}

func al2Image(s *snapshot.Snapshot) {
	runsImage("amazon-eks-node-1.35-v20261112", "amazon")(s)
	s.Nodegroups[0].AMIType = "AL2_x86_64"
}

func startWorld(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(snapshottest.PrivateWithNAT(), changes...)
}

const (
	certCA    = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	otherCA   = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUMKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	otherName = "https://FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF.gr7.us-west-2.eks.amazonaws.com"
)

func userDataCases() []checktest.Case {
	says := func(sure, says string) []string {
		if sure != "" {
			sure = " (" + sure + ")"
		}
		return []string{"fail" + sure + " lt-0a [i-0node] [i-0node] " + phrase.Title("User data of lt-0a %s", says)}
	}
	pass := []string{"pass prod [i-0node]"}
	bottlerocket := runsImage("bottlerocket-aws-k8s-1.35-x86_64-v1.50.0-0a", "amazon")
	const settings = "[settings.kubernetes]\ncluster-name = \"prod\"\napi-server = \"" + snapshottest.Endpoint + "\"\ncluster-certificate = \"" + certCA + "\"\n"
	const call = "#!/bin/bash\n/etc/eks/bootstrap.sh "
	const given = "prod --apiserver-endpoint " + snapshottest.Endpoint + " --b64-cluster-ca " + certCA
	ipv6Cluster := func(s *snapshot.Snapshot) {
		s.Cluster.IPv6, s.Cluster.ServiceCIDR = true, netip.MustParsePrefix("fd00::/108")
	}
	return []checktest.Case{
		{"it registered with it, and failed later", checktest.Change(snapshottest.PrivateWithNAT(), toldAs("echo nothing"), checktest.NotReadyNode("x")), []string{"pass prod [i-0node]"}},
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"as EKS writes it", startWorld(instead("29", "30")), pass},
		{"Ready, whatever it says", checktest.Change(startWorld(instead("name: prod", "name: staging")), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},

		// Values.
		{"another cluster's name", startWorld(instead("name: prod", "name: staging")), says("", "has the wrong cluster name")},
		{"another cluster's name, and tagged for it too", startWorld(selfManaged, instead("name: prod", "name: staging"), func(s *snapshot.Snapshot) {
			s.Instances[0].Tags["kubernetes.io/cluster/staging"] = "owned"
		}), says("likely", "has the wrong cluster name")},
		{"another cluster's endpoint", startWorld(instead(snapshottest.Endpoint, otherName)), says("", "has the wrong endpoint")},
		{"the endpoint in other letters, with a port", startWorld(instead(snapshottest.Endpoint, strings.ToLower(snapshottest.Endpoint)+":443/")), pass},
		{"an endpoint of one's own", startWorld(instead(snapshottest.Endpoint, "https://k8s.example.com")), says("likely", "has the wrong endpoint")},
		{"another authority", startWorld(instead(certCA, otherCA)), says("", "has the wrong certificate authority")},
		{"an authority that is none", startWorld(instead(certCA, "cHJvZA==")), says("", "has the wrong certificate authority")},
		{"another service range", startWorld(instead("172.20.0.0/16", "10.100.0.0/16")), says("likely", "has the wrong service range")},
		{"a service range that is none", startWorld(instead("172.20.0.0/16", "172.20.0.0")), says("", "has the wrong service range")},
		{"a service range of the other family", startWorld(instead("172.20.0.0/16", "fd00::/108")), says("", "has the wrong service range")},
		{"an unrendered template", startWorld(instead("name: prod", "name: ${cluster_name}")), says("", "has the wrong cluster name")},
		{"lacks the range", startWorld(selfManaged, instead("    cidr: 172.20.0.0/16\n", "")), says("", "lacks cidr")},
		{"lacks the range; a script speaks of nodeadm", startWorld(selfManaged, instead("    cidr: 172.20.0.0/16\n", ""), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = []byte(strings.Replace(string(s.UserData[0].Data), "--//\n", "--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\nnodeadm init -c file:///x\n--//\n", 1))
		}), says("likely", "lacks cidr")},
		{"settings of the kubelet alone: EKS adds the cluster", startWorld(toldAs("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 58}}}\n")), pass},
		{"settings of the kubelet alone: nobody adds the cluster", startWorld(custom, toldAs("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 58}}}\n")),
			says("", "lacks name, apiServerEndpoint, certificateAuthority and cidr")},

		{"lacks the range on an image of one's own", startWorld(selfManaged, runsImage("amazon-eks-node-al2023-mine", ""), instead("    cidr: 172.20.0.0/16\n", "")), says("likely", "lacks cidr")},

		// Form.
		{"misspelt apiVersion", startWorld(instead("v1alpha1", "v1alpha")), says("", "cannot be read: apiVersion is not node.eks.aws/v1alpha1")},
		{"apiVersion of another day", startWorld(instead("v1alpha1", "v1beta1")), says("likely", "cannot be read: apiVersion is not node.eks.aws/v1alpha1")},
		{"no empty line behind a MIME header", startWorld(instead("--//\n", "--//\nContent-Type: text/x-shellscript\n#!/bin/bash\n--//\n")),
			says("", "cannot be read: the header of part 1 is not ended by an empty line")},
		{"broken YAML", startWorld(instead("spec:", "spec")), says("", "cannot be read: the NodeConfig is no valid YAML")},
		{"broken YAML on an image nobody knows", startWorld(custom, runsImage("hardened-42", ""), instead("spec:", "spec")), says("likely", "cannot be read: the NodeConfig is no valid YAML")},

		// For another image.
		{"bootstrap.sh on Amazon Linux 2023", startWorld(toldAs(call + "prod")), says("", "is for another kind of image")},
		{"bootstrap.sh and a NodeConfig on Amazon Linux 2023", startWorld(instead("--//\n", "--//\nContent-Type: text/x-shellscript\n\n"+call+"prod\n--//\n")), pass},
		{"bootstrap.sh in a template to which EKS adds a NodeConfig", startWorld(toldAs(""), func(s *snapshot.Snapshot) {
			s.UserData = nil
			s.LaunchTemplates[0].UserData = []byte(call + "prod")
		}), pass},
		{"NodeConfig on Amazon Linux 2", startWorld(al2Image, instead("29", "30")), says("", "is for another kind of image")},
		{"NodeConfig on Bottlerocket", startWorld(selfManaged, bottlerocket, instead("29", "30")), says("", "is for another kind of image")},
		{"bootstrap.sh on one's own copy of Amazon Linux 2023", startWorld(selfManaged, runsImage("amazon-eks-node-al2023-mine", ""), toldAs(call+"prod")), says("likely", "is for another kind of image")},

		// Nothing.
		{"empty; EKS adds its own", startWorld(toldAs("")), pass},
		{"empty, Amazon's image, AMI type CUSTOM", startWorld(custom, toldAs("")), says("", "is empty")},
		{"empty, Amazon's image, no node group", startWorld(selfManaged, toldAs(" \n")), says("", "is empty")},
		{"empty, an image of one's own", startWorld(custom, runsImage("hardened-42", ""), toldAs("")), says("likely", "is empty")},
		{"empty, an image that joins so elsewhere", checktest.Change(startWorld(custom, runsImage("hardened-42", ""), toldAs("")), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0second", snapshottest.Private, time.Hour)
			snapshottest.Join(s, "i-0second")
		}), []string{"pass prod [i-0node i-0second]"}},
		{"empty, images unread", startWorld(custom, toldAs(""), checktest.Unread(snapshot.Images)), []string{"unknown prod [i-0node] images: denied"}},
		{"empty, node groups unread", startWorld(toldAs(""), checktest.Unread(snapshot.Nodegroups)), []string{"unknown prod [i-0node] nodegroups: denied"}},
		{"empty, EKS Auto Mode", startWorld(selfManaged, toldAs(""), func(s *snapshot.Snapshot) {
			s.Cluster.AutoMode = true
			delete(s.Instances[0].Tags, "aws:autoscaling:groupName")
		}), pass},
		{"another script", startWorld(custom, toldAs("#!/bin/bash\nyum install -y htop\n")), says("likely", "has no bootstrap")},
		{"another script, an image of one's own", startWorld(custom, runsImage("hardened-42", ""), toldAs("#!/bin/bash\nyum install -y htop\n")), says("likely", "has no bootstrap")},
		{"another script, an image that joins so elsewhere", checktest.Change(startWorld(custom, runsImage("hardened-42", ""), toldAs("#!/bin/bash\nyum install -y htop\n")), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0second", snapshottest.Private, time.Hour)
			snapshottest.Join(s, "i-0second")
		}), []string{"pass prod [i-0node i-0second]"}},
		{"a script that writes for a unit of the image", startWorld(custom, runsImage("hardened-42", ""), toldAs("#!/bin/bash\necho CLUSTER_NAME=prod > /etc/acme/join.env\n")), []string{
			"unknown prod [i-0node] user data: not read: i-0node: it calls no bootstrap and speaks of a cluster: what it writes may be for a bootstrap that the image has built in",
		}},
		{"a script from elsewhere", startWorld(custom, toldAs("#!/bin/bash\ncurl https://x | bash\n")), []string{
			"unknown prod [i-0node] user data: not read: i-0node: its script does what cannot be followed (a script from elsewhere)",
		}},
		{"noise", startWorld(custom, toldAs("\x01\x02\xff\xfe noise")), []string{"unknown prod [i-0node] user data: not read: i-0node: its format is not understood"}},
		{"more than any that is meant to be read", startWorld(toldAs(overBudget())), []string{
			"unknown prod [i-0node] user data: over budget: i-0node: the user data is over budget: reading it takes more than 524288 bytes unpacked",
		}},
		{"broken gzip", startWorld(toldAs("\x1f\x8b\x08")), []string{"unknown prod [i-0node] user data: broken: i-0node: unpack user data: unexpected EOF"}},

		// Amazon Linux 2, Bottlerocket, Windows.
		{"bootstrap.sh asks EKS", startWorld(al2Image, toldAs(call+"prod")), pass},
		{"bootstrap.sh, the endpoint without the authority: it asks EKS", startWorld(al2Image, toldAs(call+"prod --apiserver-endpoint "+otherName)), pass},
		{"bootstrap.sh, all given and another's", startWorld(al2Image, toldAs(call+"prod --apiserver-endpoint "+otherName+" --b64-cluster-ca "+otherCA)),
			says("", "has the wrong endpoint")},
		{"bootstrap.sh, all given, for IPv4 in an IPv6 cluster", startWorld(al2Image, ipv6Cluster, toldAs(call+given)), says("", "is for the other IP family")},
		{"bootstrap.sh, all given, for IPv6", startWorld(al2Image, ipv6Cluster, toldAs(call+given+" --ip-family ipv6 --service-ipv6-cidr fd00::/108")), pass},
		{"bootstrap.sh, all given, the range tells the family", startWorld(al2Image, ipv6Cluster, toldAs(call+given+" --service-ipv6-cidr fd00::/108")), pass},
		{"bootstrap.sh, all given, for IPv6 without a range", startWorld(al2Image, ipv6Cluster, toldAs(call+given+" --ip-family ipv6")), says("", "lacks --service-ipv6-cidr")},
		{"bootstrap.sh, all given, for IPv6 with the address of DNS", startWorld(al2Image, ipv6Cluster, toldAs(call+given+" --ip-family ipv6 --dns-cluster-ip fd00::a")), pass},
		{"bootstrap.sh, all given, a computed family", startWorld(al2Image, ipv6Cluster, toldAs(call+given+" --ip-family $(family)")), pass},
		{"bootstrap.sh asks an IPv6 cluster", startWorld(al2Image, ipv6Cluster, toldAs(call+"prod")), pass},
		{"bootstrap.sh, all given, for IPv6 in an IPv4 cluster", startWorld(al2Image, toldAs(call+given+" --ip-family ipv6")), says("", "is for the other IP family")},
		{"bootstrap.sh, all given, for IPv4", startWorld(al2Image, toldAs(call+given+" --ip-family ipv4")), pass},
		{"bootstrap.sh, another name", startWorld(al2Image, toldAs(call+"staging")), says("", "has the wrong cluster name")},
		{"bootstrap.sh, a computed name", startWorld(al2Image, toldAs(call+"$(cat /name)")), pass},
		{"bootstrap.sh, no name", startWorld(al2Image, toldAs(call)), says("", "lacks the cluster's name")},
		{"bootstrap.sh twice", startWorld(al2Image, toldAs(call+"prod\n/etc/eks/bootstrap.sh prod")), says("possible", "bootstraps more than once")},
		{"bootstrap.sh twice, the last with another name", startWorld(al2Image, toldAs(call+"prod\n/etc/eks/bootstrap.sh staging")), says("likely", "has the wrong cluster name")},
		{"bootstrap.sh of an image nobody knows, another name", startWorld(custom, runsImage("hardened-42", ""), toldAs(call+"staging")), says("likely", "has the wrong cluster name")},
		{"Bottlerocket", startWorld(selfManaged, bottlerocket, toldAs(settings)), pass},
		{"Bottlerocket without authority", startWorld(selfManaged, bottlerocket, toldAs(strings.Replace(settings, "cluster-certificate", "cluster-cert", 1))), says("", "lacks cluster-certificate")},
		{"Bottlerocket, broken TOML", startWorld(selfManaged, bottlerocket, toldAs("[settings.kubernetes]\ncluster-name = prod\n")), says("", "cannot be read: the settings are no valid TOML")},
		{"Windows, another name", startWorld(runsImage("Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026.11.12", "amazon"), toldAs("<powershell>\n& $f -EKSClusterName staging\n</powershell>")),
			says("", "has the wrong cluster name")},

		// Reading.
		{"its own unread: the template's", startWorld(instead("29", "30"), func(s *snapshot.Snapshot) {
			s.UserData = nil
			s.LaunchTemplates[0].UserData = []byte(strings.Replace(snapshottest.NodeConfig, "name: prod", "name: staging", 1))
		}), says("", "has the wrong cluster name")},
		{"the draft of a node group's template, to which EKS adds its part", startWorld(toldAs(""), func(s *snapshot.Snapshot) {
			s.UserData = nil
			s.Nodegroups[0].Template = snapshot.TemplateRef{ID: "lt-0a", Version: "1"}
			s.LaunchTemplates[0].UserData = []byte(strings.Replace(snapshottest.NodeConfig, "name: prod", "name: staging", 1))
		}), says("likely", "has the wrong cluster name")},
		{"neither can be read", startWorld(toldAs(""), func(s *snapshot.Snapshot) {
			s.UserData, s.LaunchTemplates = nil, nil
			s.Lack(snapshot.UserDataOf, snapshottest.Node, snapshot.Failure{Source: snapshot.UserDataOf, Reason: snapshot.Throttled, Call: "ec2:DescribeInstanceAttribute"})
		}), []string{"unknown prod [i-0node] user data: throttled"}},
		{"the same for two: one finding", checktest.Change(startWorld(instead("name: prod", "name: staging")), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0second", snapshottest.Private, time.Minute)
		}), []string{"fail lt-0a [i-0node i-0second] [i-0node i-0second] User data of lt-0a has the wrong cluster name"}},
		{"no template", startWorld(instead("name: prod", "name: staging"), func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.Template = snapshot.TemplateRef{}
			delete(i.Tags, "aws:ec2launchtemplate:id")
		}), []string{"fail i-0node [i-0node] [i-0node] User data of i-0node has the wrong cluster name"}},
		{"unread", startWorld(checktest.Unread(snapshot.UserDataOf)), []string{"unknown prod [] user data: denied"}},
	}
}

func TestUserDataWords(t *testing.T) {
	s := startWorld(selfManaged, toldAs("#!/bin/bash\nexport DB_PASSWORD=hunter2\n/etc/eks/bootstrap.sh staging --apiserver-endpoint "+otherName+" --b64-cluster-ca "+otherCA+"\n"), al2Image)
	got := checktest.Failed(t, checkOf(checkid.InstanceUserData), s)
	for _, want := range []string{"staging, and the cluster's is prod", "It calls another address", "It does not trust"} {
		if !strings.Contains(got.Why, want) {
			t.Errorf("Why = %q, want %q in it", got.Why, want)
		}
	}
	if want := "aws ec2 describe-launch-template-versions --region us-west-2 --launch-template-id lt-0a "; !strings.HasPrefix(got.Fix.Command, want) {
		t.Errorf("Command = %q, want it to begin with %q", got.Fix.Command, want)
	}
	if v := checktest.Value(t, got, "The certificate authority in user data"); !strings.HasPrefix(v, "SHA-256 ") {
		t.Errorf("authority = %q, want a fingerprint", v)
	}
	for _, e := range got.Evidence {
		if strings.Contains(e.Value, "hunter2") || strings.Contains(e.Value, otherCA) {
			t.Errorf("evidence %v holds user data", e)
		}
	}
}

// imageNamed renames the worlds' image.
func imageNamed(name string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Images[0].Name = name }
}

func versionSkewCases() []checktest.Case {
	newer := "amazon-eks-node-al2023-x86_64-standard-1.36-v20261201"
	older := "bottlerocket-aws-k8s-1.31-x86_64-v1.26.1-943d9a41"
	custom := func(s *snapshot.Snapshot) { s.Images[0].Name, s.Nodegroups[0].AMIType = "golden-7", "CUSTOM" }
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, whatever its version", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Nodes[0].Kubelet = "v1.20.0" }), []string{"pass prod [i-0node]"}},
		{"the same version", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"an image of Auto Mode", checktest.Change(checktest.Missed(), imageNamed("eks-auto-standard"), ofAutoMode), []string{"pass prod [i-0node]"}},
		{"three older", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.32-v1")), []string{"pass prod [i-0node]"}},
		{"newer by one, as after a rollback of the control plane", checktest.Change(checktest.Missed(), imageNamed(newer)), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35"}},
		{"newer by two", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.37-v1")), []string{"fail workers [i-0node] [i-0node] i-0node: kubelet 1.37 beside control plane 1.35"}},
		{"four older", checktest.Change(checktest.Missed(), imageNamed(older)), []string{"fail workers [i-0node] [i-0node] i-0node: kubelet 1.31 beside control plane 1.35"}},
		{"newer, not due", checktest.Change(checktest.Missed(), imageNamed(newer), checktest.NotDueYet), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35"}},
		{"newer, by the name of somebody's image", checktest.Change(checktest.Missed(), imageNamed(newer), func(s *snapshot.Snapshot) { s.Images[0].OwnerAlias = "" }), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35",
		}},
		{"the node's own word counts first", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), func(s *snapshot.Snapshot) { s.Nodes[0].Kubelet = "v1.31.2-eks-94953ac" }), []string{
			"fail workers [i-0node] [i-0node] i-0node: kubelet 1.31 beside control plane 1.35",
		}},
		{"two of a group", checktest.Change(checktest.Missed(), imageNamed(older), checktest.LaunchedToo("i-0second", 10*time.Minute)), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: kubelet 1.31 beside control plane 1.35",
		}},
		{"a name without a version in a managed group", checktest.Change(checktest.Missed(), imageNamed("golden-7")), []string{"pass prod [i-0node]"}},
		{"nothing tells", checktest.Change(checktest.Missed(), custom), []string{
			"unknown prod [i-0node] images: not read: neither a node nor the image's name tells the kubelet's version of i-0node",
		}},
		{"no image is left", checktest.Change(checktest.Missed(), custom, func(s *snapshot.Snapshot) { s.Images = nil }), []string{
			"unknown prod [i-0node] images: not read: neither a node nor the image's name tells the kubelet's version of i-0node",
		}},
		{"newer, as a Ready node is: the control plane was rolled back", checktest.Change(checktest.Missed(), imageNamed(newer), func(s *snapshot.Snapshot) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "old", Kubelet: "v1.36.0-eks-1", Ready: snapshot.Condition{Status: "True"}})
		}), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35"}},
		{"nothing tells, not due", checktest.Change(checktest.Missed(), custom, checktest.NotDueYet), nil},
		{"a cluster version that nobody knows", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Cluster.Version = "two" }), []string{
			`unknown prod [prod] cluster: broken: the version "two" of the cluster is not understood`,
		}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Images)), []string{"unknown prod [] images: denied"}},
	}
}

func TestVersionSkewFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceVersionSkew), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.31-v1")))
	if want := "aws eks update-nodegroup-version --region us-west-2 --cluster-name prod --nodegroup-name workers --kubernetes-version 1.35"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	got = checktest.Failed(t, checkOf(checkid.InstanceVersionSkew), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.36-v1")))
	if got.Fix.Command != "" || !strings.Contains(got.Fix.Text, "upgrade the control plane") {
		t.Errorf("Fix = %+v, want no command: a nodegroup cannot go back", got.Fix)
	}
}
