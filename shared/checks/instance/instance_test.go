package instance

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/messages"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.InstanceAMI:                   imageUnfitCases(),
		checkid.InstanceClusterCA:             clusterCACases(t),
		checkid.InstanceClusterTag:            clusterTagCases(),
		checkid.InstanceConsoleError:          consoleErrorCases(),
		checkid.InstanceEndedEarly:            endedEarlyCases(),
		checkid.InstanceForbiddenNodeLabel:    forbiddenNodeLabelCases(),
		checkid.InstanceForeignSecurityGroups: foreignSecurityGroupsCases(),
		checkid.InstanceIMDS:                  imdsCases(),
		checkid.InstanceMaxPods:               maxPodsCases(),
		checkid.InstanceOlderThanCluster:      olderThanClusterCases(),
		checkid.InstanceScheduledEvent:        scheduledEventCases(),
		checkid.InstanceStatusCheck:           statusCheckCases(),
		checkid.InstanceUserData:              userDataCases(),
		checkid.InstanceVersionSkew:           versionSkewCases(),
	})
}

// TestNoAdviceOfWhatIs: in a world in which all is as advice asks for, no row of the
// console advises it; each clause is one of some row; and where it is not so, the clause
// stays.
func TestNoAdviceOfWhatIs(t *testing.T) {
	good := checktest.Missed()
	bad := checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) {
		s.VPCAttributes[0].DNSSupport, s.VPCAttributes[0].DNSHostnames = false, false
		for i := range s.DHCPOptions {
			s.DHCPOptions[i].DomainNameServers = []string{"10.9.9.9"}
		}
		s.AccessEntries = nil
		for i := range s.Roles {
			s.Roles[i].Policies = nil
		}
		snapshottest.Instance(s, snapshottest.Node).Metadata.Endpoint = "disabled"
	})
	seen := map[string]bool{}
	for _, row := range messages.ConsoleRows() {
		next := row.Next
		for _, x := range states() {
			if !strings.Contains(next, x.clause) {
				continue
			}
			seen[x.clause] = true
			if got := withoutWhatIs(check.NewView(good), snapshottest.Instance(good, snapshottest.Node), next); strings.Contains(got, x.clause) || len(got) < 20 || got[0] < 'A' || got[0] > 'Z' {
				t.Errorf("it is so, and advised all the same, or nothing is left: %q", got)
			}
			if got := withoutWhatIs(check.NewView(bad), snapshottest.Instance(bad, snapshottest.Node), next); got != next {
				t.Errorf("it is not so, and %q became %q", next, got)
			}
		}
	}
	for _, x := range states() {
		if !seen[x.clause] {
			t.Errorf("no row advises %q", x.clause)
		}
	}
}

func imageUnfitCases() []checktest.Case {
	noImage := func(s *snapshot.Snapshot) { s.Images = nil }
	const unlisted = "] images: not shown: EC2 does not list ami-0al2023 (deregistered since, no longer shared, or hidden by Allowed AMIs): its Kubernetes version is unknown"
	arm := func(s *snapshot.Snapshot) { s.Images[0].Architecture = "arm64" }
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, and its image is gone", checktest.Change(snapshottest.PrivateWithNAT(), noImage), []string{"pass prod [i-0node]"}},
		{"fits", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"not listed", checktest.Change(checktest.Missed(), noImage), []string{"unknown ami-0al2023 [i-0node" + unlisted}},
		{"not listed, not due", checktest.Change(snapshottest.PrivateWithNAT(), noImage, checktest.NotReadyNode("x"), func(s *snapshot.Snapshot) { s.Launches = nil }), []string{"pass prod [i-0node]"}},
		{"disabled", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Images[0].State = "disabled" }), []string{"pass prod [i-0node]"}},
		{"another architecture", checktest.Change(checktest.Missed(), arm), []string{
			"fail ami-0al2023 [i-0node] [i-0node] ami-0al2023: it is for arm64, and m5.large has x86_64",
		}},
		{"another architecture, the type's unknown", checktest.Change(checktest.Missed(), arm, checktest.Unread(snapshot.InstanceTypes)), []string{"pass prod [i-0node]"}},
		{"another Kubernetes", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.36-v1")), []string{
			"fail ami-0al2023 [i-0node] [i-0node] ami-0al2023: Kubernetes 1.36 is newer than the control plane's 1.35",
		}},
		{"Amazon Linux 2", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.32-v20251120")), []string{
			"fail ami-0al2023 [i-0node] [i-0node] ami-0al2023: Amazon Linux 2, unsupported since 26 November 2025",
		}},
		{"Amazon Linux 2 before its end", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.32-v20251120"), func(s *snapshot.Snapshot) { s.Time = endOfAL2().Add(-time.Second) }), []string{"pass prod [i-0node]"}},
		{"deprecated alone does no harm", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Images[0].Deprecated = s.Time.Add(-time.Hour) }), []string{"pass prod [i-0node]"}},
		{"two types, one image: one finding", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.32-v20251120"), checktest.LaunchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Instance(s, "i-0second").Type = "m6i.large" }), []string{
			"fail ami-0al2023 [i-0node i-0second] [i-0node i-0second] ami-0al2023: Amazon Linux 2, unsupported since 26 November 2025",
		}},
		{"this image could not be read", checktest.Change(checktest.Missed(), noImage, func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Images, snapshottest.AMI, snapshot.Failure{Source: snapshot.Images, Reason: snapshot.Throttled, Call: "ec2:DescribeImages"})
		}), []string{"unknown ami-0al2023 [i-0node] images: throttled"}},
		{"EC2 names no image", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Instances[0].AMI = "" }), []string{"unknown prod [i-0node] instances: broken: EC2 names no image"}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Images)), []string{"unknown prod [] images: denied"}},
	}
}

func TestImageUnfitWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceAMI), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.30-v20241109"), func(s *snapshot.Snapshot) { s.Images[0].Deprecated = s.Time.Add(-time.Hour) }))
	if !strings.Contains(got.Why, "Kubernetes 1.30 is too old") || !strings.Contains(got.Why, "26 November 2025") {
		t.Errorf("Why = %q, want both reasons", got.Why)
	}
	if len(got.Evidence) != 2 || !strings.HasPrefix(got.Evidence[1].Value, "deprecated since 2026-11-20") {
		t.Errorf("evidence = %v, want that it is deprecated", got.Evidence)
	}
	if want := "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id"; !strings.Contains(got.Fix.Command, want) {
		t.Errorf("Command = %q, want the image for %s", got.Fix.Command, want)
	}
}

// authorityOf is a certificate authority in PEM that begins in a year.
func authorityOf(t *testing.T, year int) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.OK(t, err)
	from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	c := x509.Certificate{SerialNumber: big.NewInt(int64(year)), NotBefore: from, NotAfter: from.AddDate(10, 0, 0), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, &key.PublicKey, key)
	expect.OK(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func clusterCACases(t *testing.T) []checktest.Case {
	first, second := authorityOf(t, 2018), authorityOf(t, 2026)
	told := func(pem string) string {
		const old = "certificateAuthority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
		return strings.Replace(snapshottest.NodeConfig, old, "certificateAuthority: "+base64.StdEncoding.EncodeToString([]byte(pem)), 1)
	}
	// world has the cluster's bundle and what the user data of all trusts.
	world := func(bundle, trusted string, more ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return startWorld(append([]func(*snapshot.Snapshot){toldAs(told(trusted)), func(s *snapshot.Snapshot) {
			s.Cluster.CA, s.LaunchTemplates[0].UserData = []byte(bundle), []byte(told(trusted))
		}}, more...)...)
	}
	joined := func(s *snapshot.Snapshot) { s.Nodes = snapshottest.PrivateWithNAT().Nodes }
	pass := []string{"pass prod [i-0node prod]"}
	retired := []string{"fail lt-0a [i-0node] [i-0node] User data of lt-0a trusts only a retired authority", "pass prod [prod]"}
	advice := func(instances string) []string {
		return []string{"fail (advice) lt-0a [lt-0a] [] eks-workers will not trust prod once its new authority is active", "pass prod [" + instances + "prod]"}
	}
	return []checktest.Case{
		{"one authority", world(first, first), pass},
		{"one authority, another in user data: instance/user-data", world(first, second), pass},
		{"two, user data with the retired one", world(second+first, first), retired},
		{"two, user data with both", world(second+first, first+second), pass},
		{"two, user data with the active one", world(second+first, second), pass},
		{"two, user data with none of them", world(second+first, authorityOf(t, 2020)), pass},
		{"before activation, user data with the successor", world(first+second, second), []string{
			"fail lt-0a [i-0node] [i-0node] User data of lt-0a trusts only a successor authority", "pass prod [prod]",
		}},
		{"before activation, user data without the successor", world(first+second, first), advice("i-0node ")},
		{"before activation, all nodes Ready", world(first+second, first, joined), advice("i-0node ")},
		{"before activation, user data with both", world(first+second, first+second, joined), pass},
		{"all nodes Ready, and the template has the retired one", world(second+first, first, joined), []string{
			"fail (advice) lt-0a [lt-0a] [] eks-workers does not trust the authority that signs for prod", "pass prod [i-0node prod]",
		}},
		{"user data unread", world(second+first, first, checktest.Unread(snapshot.UserDataOf), checktest.Unread(snapshot.LaunchTemplates)), []string{"pass prod [prod]", "unknown prod [i-0node] user data: denied"}},
		{"the template's, where the instance's own cannot be read and it has no group", world(second+first, first, selfManaged, checktest.Unread(snapshot.UserDataOf), func(s *snapshot.Snapshot) {
			delete(s.Instances[0].Tags, "aws:autoscaling:groupName")
		}), []string{"fail (likely) lt-0a [i-0node] [i-0node] User data of lt-0a trusts only a retired authority", "pass prod [prod]"}},
	}
}

func untagged(s *snapshot.Snapshot) {
	selfManaged(s)
	snapshottest.Unjoin(s, snapshottest.Node)
	delete(s.Instances[0].Tags, "kubernetes.io/cluster/prod")
}

func clusterTagCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	return []checktest.Case{
		{"Ready", startWorld(untagged, func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"tagged", startWorld(selfManaged, toldAs("")), pass},
		{"managed, not tagged yet", startWorld(toldAs(""), func(s *snapshot.Snapshot) { delete(s.Instances[0].Tags, "kubernetes.io/cluster/prod") }), pass},
		{"untagged", startWorld(untagged), []string{"fail eks-workers [i-0node] [i-0node] i-0node has no tag of cluster prod"}},
		{"untagged, without a group", startWorld(untagged, func(s *snapshot.Snapshot) { delete(s.Instances[0].Tags, "aws:autoscaling:groupName") }), []string{
			"fail i-0node [i-0node] [i-0node] i-0node has no tag of cluster prod",
		}},
		{"ended, its tags gone", startWorld(untagged, func(s *snapshot.Snapshot) { s.Instances[0].State, s.Instances[0].Tags = "terminated", nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 removes the tags of terminated instances",
		}},
		{"unread", startWorld(untagged, checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

// rollout is a week in which launches with ami-0old joined, and an afternoon in
// which those with ami-0new did not, a quarter of an hour apart; of ours, the last,
// the time to join is over.
func rollout(changes ...func(*snapshot.Past)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		add := func(id, ami string, ago time.Duration, end snapshot.End) {
			p := snapshot.Past{ID: id, Nodegroup: "workers", Type: "m5.large", AMI: ami, Architecture: "x86_64", Zone: snapshottest.Zone, Subnet: snapshottest.Private, Started: s.Time.Add(-ago), End: end}
			if end == snapshot.Open {
				p.Missed = p.Started.Add(5 * time.Minute)
			}
			for _, f := range changes {
				f(&p)
			}
			s.Week = append(s.Week, p)
		}
		for n := range 80 {
			add(fmt.Sprintf("i-old%02d", n), "ami-0old", 8*time.Hour+time.Duration(n)*time.Hour, snapshot.Joined)
		}
		for n := range 24 {
			add(fmt.Sprintf("i-new%02d", n), "ami-0new", 7*time.Hour-time.Duration(n)*16*time.Minute, snapshot.Open)
		}
		snapshottest.Instance(s, snapshottest.Node).AMI = "ami-0new"
	}
}

func explained(p *snapshot.Past) {
	if p.End == snapshot.Open {
		p.Cause = checkid.RouteNoEgress
	}
}

func TestCommonFactor(t *testing.T) {
	checktest.RunCases(t, checkOf(checkid.InstanceCommonFactor), []checktest.Case{
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"one that failed has nothing to be compared with", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"a bad AMI", checktest.Change(checktest.Missed(), rollout()), []string{"fail ami-0new [i-0node] [i-0node] 25 of 25 with ami-0new failed, 80 of 80 others joined"}},
		{"others failed for it, and this one has another", checktest.Change(checktest.Missed(), rollout(), func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).AMI = "ami-0old" }),
			[]string{"pass prod [i-0node]"}},
		{"a cause was found for those", checktest.Change(checktest.Missed(), rollout(explained)), []string{"pass prod [i-0node]"}},
		{"and it joined", checktest.Change(snapshottest.PrivateWithNAT(), rollout()), []string{"pass prod [i-0node]"}},
		{"its time is not over", checktest.Change(checktest.Missed(), rollout(), func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Minute) }), []string{"pass prod [i-0node]"}},
		{"history unread", checktest.Change(checktest.Missed(), rollout(), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [i-0node] launch history: denied"}},
		{"history unread, and nothing failed", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.LaunchHistory)), []string{"pass prod [i-0node]"}},
		{"nodes unread", checktest.Change(checktest.Missed(), rollout(), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	})
}

func TestCommonFactorWords(t *testing.T) {
	f := checktest.Failed(t, checkOf(checkid.InstanceCommonFactor), checktest.Change(checktest.Missed(), rollout(func(p *snapshot.Past) {
		p.Template = snapshot.TemplateRef{ID: "lt-0e2", Version: map[string]string{"ami-0old": "6", "ami-0new": "7"}[p.AMI]}
	}), func(s *snapshot.Snapshot) {
		i := snapshottest.Instance(s, snapshottest.Node)
		i.Template = snapshot.TemplateRef{ID: "lt-0e2", Version: "7"}
	}))
	expect.Equal(t, "Why", f.Why, "25 of 25 launches with ami-0new failed, the first launched 2026-11-20 08:00 UTC; 80 of 80 others of the last 7 days joined. These are also exactly the launches with lt-0e2 version 7: any of these can be the cause.")
	if want := "Compare ami-0new with ami-0old, with which launches join"; !strings.HasPrefix(f.Fix.Text, want) {
		t.Errorf("Fix = %q, want it to begin with %q", f.Fix.Text, want)
	}
	expect.Equal(t, "Command", f.Fix.Command, "aws ec2 describe-images --region us-west-2 --image-ids ami-0new ami-0old")
	expect.Equal(t, "the version that goes with it", checktest.Value(t, f, "launch template version"), "lt-0e2 version 7")
}

const (
	consoleStart = "[    0.000000] Linux version 6.1.112\n[  OK  ] Reached target Basic System.\n"
	badConfig    = consoleStart + `nodeadm[1]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration"}` + "\n"
	timeoutLine  = `kubelet[2]: "Unable to register node with API server" err="Post \"https://A.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.0.0.1:443: i/o timeout"` + "\n"
	refusedLine  = "kubelet[2]: E1 reflector.go:123] Failed to list *v1.Service: Unauthorized\n"
	fullDisk     = consoleStart + "kubelet[2]: write /var/lib/kubelet/x: no space left on device\n"
)

// wrote gives an instance a console.
func wrote(id, text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Consoles = slices.DeleteFunc(s.Consoles, func(c snapshot.Console) bool { return c.Instance == id })
		s.Consoles = append(s.Consoles, snapshot.Console{Instance: id, Text: text})
	}
}

// silent takes the consoles away: none was read.
func silent(s *snapshot.Snapshot) { s.Consoles = nil }

func consoleErrorCases() []checktest.Case {
	const incomplete = "the NodeConfig is incomplete"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node: " + incomplete}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, whatever it wrote", checktest.Change(snapshottest.PrivateWithNAT(), wrote(snapshottest.Node, badConfig)), []string{"pass prod [i-0node]"}},
		{"it tells", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, badConfig)), fail},
		{"it tells before it is due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, badConfig), checktest.NotDueYet), fail},
		{"timeouts that may still pass, before it is due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9)), checktest.NotDueYet), nil},
		{"timeouts", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9))), []string{
			"fail workers [i-0node] [i-0node] i-0node: the cluster's API does not respond",
		}},
		{"no proof: likely", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, fullDisk)), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: a disk is full"}},
		{"no proof, before it is due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, fullDisk), checktest.NotDueYet), nil},
		{"a start without a known failure", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, consoleStart+"kubelet[2]: I1\n")), []string{"pass workers [i-0node]"}},
		{"nothing was written", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, " \r\n")), []string{
			"unknown workers [i-0node] console output: not read: i-0node has no console output yet",
		}},
		{"nothing was written, not due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, ""), checktest.NotDueYet), nil},
		{"it ends in the kernel", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, "[    0.000000] Linux version 6.1.112\n")), []string{
			"unknown workers [i-0node] console output: not read: the console of i-0node ends at the kernel, before the bootstrap",
		}},
		{"no console", checktest.Change(checktest.Missed(), silent), []string{"unknown workers [i-0node] console output: not read: i-0node is not among the consoles that were read"}},
		{"its console could not be read", checktest.Change(checktest.Missed(), silent, func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Consoles, snapshottest.Node, snapshot.Failure{Source: snapshot.Consoles, Reason: snapshot.Throttled, Call: "ec2:GetConsoleOutput"})
		}), []string{"unknown workers [i-0node] console output: throttled"}},
		{"a sample of a group", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), checktest.LaunchedToo("i-0third", time.Minute), wrote(snapshottest.Node, badConfig)), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: " + incomplete,
		}},
		{"another template is not alike", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, badConfig), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, "i-0second").Template.Version = "2"
		}), []string{
			"fail workers [i-0node] [i-0node] i-0node: " + incomplete,
			"unknown workers [i-0second] console output: not read: i-0second is not among the consoles that were read",
		}},
		{"the sample disagrees: the rest is not known", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), checktest.LaunchedToo("i-0third", 10*time.Minute), wrote(snapshottest.Node, badConfig), wrote("i-0second", consoleStart+refusedLine+refusedLine)), []string{
			// The first by name has the owner's resource: as many have each.
			"fail i-0node [i-0node] [i-0node] i-0node: " + incomplete,
			"fail workers [i-0second] [i-0second] i-0second: the API rejects the node's credentials",
			"unknown workers [i-0third] console output: not read: i-0third is not among the consoles that were read",
		}},
		{"a sample without a known failure", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, consoleStart+"kubelet[2]: I1\n")), []string{"pass workers [i-0node]"}},
		{"timeouts: another subnet has another network", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), checktest.LaunchedToo("i-0third", 10*time.Minute), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9)), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, "i-0third").Subnet = snapshottest.Public
		}), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: the cluster's API does not respond",
			"unknown workers [i-0third] console output: not read: i-0third is not among the consoles that were read",
		}},
		{"registered since: how it came there is over", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), wrote(snapshottest.Node, badConfig)), []string{"pass workers [i-0node]"}},
		{"registered, and the disk is full", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), wrote(snapshottest.Node, fullDisk)), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node: a disk is full",
		}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Consoles)), []string{"unknown prod [] console output: denied"}},
	}
}

func TestConsoleErrorWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceConsoleError), checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, badConfig)))
	if want := "The console of i-0node shows: the NodeConfig is incomplete (nodeadm-incomplete). nodeadm found no complete NodeConfig"; !strings.HasPrefix(got.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", got.Why, want)
	}
	if line := checktest.Value(t, got, "Console of i-0node"); !strings.Contains(line, "Name is missing in cluster configuration") {
		t.Errorf("evidence = %q, want the line", line)
	}
	if line := checktest.Value(t, got, "Consoles"); line != "1 of 2 were read; all of them show it" {
		t.Errorf("Consoles = %q", line)
	}
	if !strings.HasSuffix(got.Fix.Text, "See instance/user-data.") {
		t.Errorf("Fix = %q, want the check that looks at the cause", got.Fix.Text)
	}
}

// forget takes the names away that EC2 forgets of terminated instances.
func forget(s *snapshot.Snapshot) {
	i := snapshottest.Instance(s, snapshottest.Node)
	i.PrivateDNS, i.PrivateIP = "", netip.Addr{}
}

func byKarpenter(s *snapshot.Snapshot) { s.Instances[0].Tags["karpenter.sh/nodepool"] = "workers" }

func endedEarlyCases() []checktest.Case {
	const user, itself = "Client.UserInitiatedShutdown", "Client.InstanceInitiatedShutdown"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node ended before it was a node"}
	pass := []string{"pass prod [i-0node]"}
	const scaleIn = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0."
	return []checktest.Case{
		{"running", snapshottest.PrivateWithNAT(), pass},
		{"its own system", checktest.Ended(itself, 2*time.Minute), fail},
		{"Spot took it back", checktest.Ended("Server.SpotInstanceTermination", 2*time.Minute), pass},
		{"ended by a call after EC2's warning", checktest.Change(checktest.Ended(user, 3*time.Minute), checktest.Noticed(90*time.Second)), pass},
		{"its own system, past its time to join", checktest.Ended(itself, 8*time.Minute), fail},
		{"KMS key: launch/kms-key tells it", checktest.Ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), nil},
		{"KMS key, and activities unread", checktest.Change(checktest.Ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), checktest.Unread(snapshot.Activities)), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"an event says that it was a node", checktest.Change(checktest.Ended(itself, 4*time.Minute), checktest.Event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"an event says so, by the name that is made of its id", checktest.Change(checktest.Ended(itself, 4*time.Minute), checktest.Event("RemovingNode", "i-0node.us-west-2.compute.internal", 5*time.Minute)), pass},
		{"the event is of the one that had the address before", checktest.Change(checktest.Ended(itself, 4*time.Minute), checktest.Event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 20*time.Minute)), fail},
		{"a node registered meanwhile, and EC2 has forgotten the name", checktest.Change(checktest.Ended(itself, 4*time.Minute), forget, checktest.Event("RegisteredNode", "ip-10-42-192-99.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"past its time, events could not be read", checktest.Change(checktest.Ended(itself, 8*time.Minute), checktest.Unread(snapshot.NodeEventsOf)), []string{
			"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"past its time its group took it out of service: it served", checktest.Change(checktest.Ended(itself, 8*time.Minute), checktest.Terminating("At 2026-11-20T14:58:00Z an instance was taken out of service in response to an EC2 instance termination notice.")), nil},
		{"it lived for hours: no event is left to tell", checktest.Change(checktest.Ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) {
			s.Launches[0].Started, s.Launches[0].Due = s.Time.Add(-3*time.Hour), s.Time.Add(-3*time.Hour+5*time.Minute)
		}), pass},
		{"stopped", checktest.Change(checktest.Ended("Client.InstanceInitiatedShutdown", time.Minute), func(s *snapshot.Snapshot) { s.Instances[0].State = "stopped" }), fail},
		{"Karpenter's tag says that it had registered", checktest.Change(checktest.Ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) {
			s.Instances[0].Tags["karpenter.sh/nodeclaim"] = "gpu-x7k2p"
		}), pass},
		{"Karpenter ended it past its time, nodes refused", checktest.Change(checktest.Ended(user, 15*time.Minute), byKarpenter, checktest.Unread(snapshot.Nodes)), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"Karpenter ended it past its time, nodes not asked for", checktest.Change(checktest.Ended(user, 15*time.Minute), byKarpenter, func(s *snapshot.Snapshot) { delete(s.Read, snapshot.Nodes) }), nil},
		{"it was a node", checktest.Change(checktest.Ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"somebody ended it at once", checktest.Ended(user, time.Minute), fail},
		{"somebody ended it at once; a scale-in cannot be told apart", checktest.Change(checktest.Ended(user, time.Minute), checktest.Unread(snapshot.Activities)), []string{
			"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"somebody ended it, or a scale-in that is not among the newest activities", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Activities[0].Instance, s.Activities[0].Started = "i-0other", s.Time.Add(-time.Minute)
		}), []string{"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: it may be a scale-in"}},
		{"ended with its group, which has no activities any more", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) { s.Activities = nil }), []string{
			"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: it may be a scale-in",
		}},
		{"somebody ended an instance that has no group", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Activities = nil
			snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{"karpenter.sh/nodepool": "workers"}
		}), fail},
		{"scale-in", checktest.Change(checktest.Ended(user, time.Minute), checktest.Terminating(scaleIn)), pass},
		{"replaced through its group", checktest.Change(checktest.Ended(user, time.Minute), checktest.Terminating("At 2026-11-20T14:52:00Z instance i-0node was taken out of service in response to a user request.")), pass},
		{"its group saw that somebody had ended it", checktest.Change(checktest.Ended(user, time.Minute), checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")), fail},
		{"ended by a call after it had missed its time: nothing shows that it was a node", checktest.Ended(user, 8*time.Minute),
			[]string{"fail (likely) workers [i-0node] [i-0node] i-0node ended before it was a node"}},
		{"ended by a call after it had missed its time, events unread", checktest.Change(checktest.Ended(user, 8*time.Minute), checktest.Unread(snapshot.NodeEventsOf)), []string{"unknown prod [i-0node] node events: denied"}},
		{"ended by a call after it had missed its time, by its group", checktest.Change(checktest.Ended(user, 8*time.Minute), checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")), nil},
		{"nobody waited for it", checktest.Change(checktest.Ended(itself, time.Minute), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"in a warm pool", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Groups = []snapshot.Group{{Name: "eks-workers", Warm: []string{snapshottest.Node}}}
		}), pass},
		{"two of one group are one finding", checktest.Change(checktest.Ended(itself, time.Minute), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0two", snapshottest.Private, 4*time.Minute)
			i := snapshottest.Instance(s, "i-0two")
			i.State, i.StateReason = "shutting-down", snapshot.StateReason{Code: itself}
		}), []string{"fail workers [i-0node i-0two] [i-0node i-0two] 2 instances ended before they were nodes"}},
		{"nodes unread, ended in time: it may have been a node", checktest.Change(checktest.Ended(itself, time.Minute), checktest.Unread(snapshot.Nodes)),
			[]string{"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node"}},
		{"nodes unread, ended past its time", checktest.Change(checktest.Ended(itself, 8*time.Minute), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [i-0node] nodes: denied"}},
		{"EC2 does not list it", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Instances = nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 does not list i-0node: too new, or terminated for more than an hour",
		}},
		{"instances unread", checktest.Change(checktest.Ended(itself, time.Minute), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestEndedEarlyWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceEndedEarly), checktest.Ended("Client.InstanceInitiatedShutdown", 10*time.Second))
	want := `i-0node is terminated, 10s after its launch: its own operating system shut it down. EC2: "Client.InstanceInitiatedShutdown: what EC2 says".`
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "Read the console output"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}

// Where nothing can be read of the group, what EC2 says of the instance still
// names the cause.
func TestEndedEarlyKnowsFailedLaunches(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceEndedEarly), checktest.Change(checktest.Ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), checktest.Unread(snapshot.Activities)))
	if want := "AWSServiceRoleForAutoScaling"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}

// groupLabels sets the labels of the node group; its instance has not joined.
func groupLabels(keys ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		s.Nodegroups[0].Labels = map[string]string{}
		for _, k := range keys {
			s.Nodegroups[0].Labels[k] = "x"
		}
	}
}

func forbiddenNodeLabelCases() []checktest.Case {
	const role = "node-role.kubernetes.io/worker"
	pass := []string{"pass prod [i-0node]"}
	inData := instead("eks.amazonaws.com/nodegroup=workers", role+"=x,eks.amazonaws.com/nodegroup=workers")
	noLabels := instead("--node-labels=eks.amazonaws.com/nodegroup=workers,eks.amazonaws.com/capacityType=ON_DEMAND", "--v=2")
	of := func(sure, resource string) []string {
		return []string{"fail" + sure + " " + resource + " [i-0node] [i-0node] kubelet rejects label " + role}
	}
	return []checktest.Case{
		{"usual labels", startWorld(groupLabels("team", "example.com/kubernetes.io", "topology.kubernetes.io/zone")), pass},
		{"Ready", startWorld(groupLabels(role), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"in the user data", startWorld(inData), of("", "lt-0a")},
		{"in the user data and the node group", startWorld(groupLabels(role), inData), of("", "workers")},
		{"in the node group, no labels in the user data", startWorld(groupLabels(role), noLabels), of("", "workers")},
		{"in the node group, user data unread", startWorld(groupLabels(role), checktest.Unread(snapshot.UserDataOf), checktest.Unread(snapshot.LaunchTemplates)), of("", "workers")},
		{"in the node group, other labels in the user data: may be newer", startWorld(groupLabels(role)), of(" (likely)", "workers")},
		{"in the node group, which has a Ready node", checktest.Change(startWorld(groupLabels(role), noLabels), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0second", snapshottest.Private, 0)
			snapshottest.Join(s, "i-0second")
		}), []string{"pass prod [i-0second]", of(" (likely)", "workers")[0]}},
		{"in the node group of an image of one's own: EKS labels the node later", startWorld(groupLabels(role), custom), pass},
		{"in bootstrap.sh", startWorld(al2Image, toldAs("#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args '--node-labels="+role+"=$(id)'")), of("", "lt-0a")},
		{"in Bottlerocket's settings", startWorld(selfManaged, toldAs("[settings.kubernetes.node-labels]\n\""+role+"\" = \"x\"\n")), of("", "lt-0a")},
		{"user data and template unread, labels fine", startWorld(groupLabels("team"), checktest.Unread(snapshot.UserDataOf), checktest.Unread(snapshot.LaunchTemplates)), []string{
			"unknown prod [i-0node] user data: denied",
		}},
		{"user data over budget, labels fine", startWorld(groupLabels("team"), toldAs(overBudget())), []string{
			"unknown prod [i-0node] user data: over budget: i-0node: the user data is over budget: reading it takes more than 524288 bytes unpacked",
		}},
		{"unread", startWorld(checktest.Unread(snapshot.Nodegroups)), []string{"unknown prod [] nodegroups: denied"}},
	}
}

func TestForbidden(t *testing.T) {
	labels := map[string]string{}
	for _, key := range []string{
		"team", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "notkubernetes.io/x",
		"kubernetes.io/os", "beta.kubernetes.io/arch", "node.kubernetes.io/x", "a.node.kubernetes.io/x", "kubelet.kubernetes.io/x",
		"kubernetes.io/role", "node-role.kubernetes.io/worker", "app.kubernetes.io/name", "node-restriction.kubernetes.io/x", "k8s.io/x", "x.k8s.io/y", "kubernetes.io/instance-type",
	} {
		labels[key] = ""
	}
	want := []string{"app.kubernetes.io/name", "k8s.io/x", "kubernetes.io/instance-type", "kubernetes.io/role", "node-restriction.kubernetes.io/x", "node-role.kubernetes.io/worker", "x.k8s.io/y"}
	expect.Same(t, "forbidden", forbidden(labels), want)
}

// foreignGroups gives the instance and its template a security group of their own.
func foreignGroups(s *snapshot.Snapshot) {
	snapshottest.Unjoin(s, snapshottest.Node)
	snapshottest.Instance(s, snapshottest.Node).Groups = []string{"sg-0mine"}
	s.LaunchTemplates[0].Groups = []string{"sg-0mine"}
}

// admitsForeign lets through what nodes and control plane need of each other.
func admitsForeign(s *snapshot.Snapshot) {
	s.Cluster.EndpointPrivate = true
	checktest.ClusterAdmits(snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{"sg-0mine"}})(s)
	s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{
		ID: "sg-0mine", VPC: snapshottest.VPC,
		Ingress: checktest.RuleSet(snapshot.Rule{Protocol: "tcp", From: 10250, To: 10250, Groups: []string{snapshottest.ClusterGroup}}),
		Egress:  checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}),
	})
}

func foreignSecurityGroupsCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	fail := []string{"fail lt-0a [i-0node] [i-0node] lt-0a keeps sg-0cluster off i-0node"}
	return []checktest.Case{
		{"Ready", startWorld(foreignGroups, func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"the cluster's group", startWorld(toldAs("")), pass},
		{"the template's groups instead", startWorld(foreignGroups), fail},
		{"the template's groups and the cluster's", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.Instances[0].Groups = []string{"sg-0mine", "sg-0cluster"} }), pass},
		{"the template sets none", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].Groups = nil }), pass},
		{"the template's groups let all of it through", startWorld(foreignGroups, admitsForeign), pass},
		{"all of it but the way to the kubelet", startWorld(foreignGroups, admitsForeign, func(s *snapshot.Snapshot) {
			s.SecurityGroups[len(s.SecurityGroups)-1].Ingress = nil
		}), fail},
		{"whether they do was not read", startWorld(foreignGroups, admitsForeign, checktest.Unread(snapshot.SecurityGroups)), fail},
		{"no managed node group", startWorld(foreignGroups, selfManaged), pass},
		{"the template that was given to the node group", startWorld(foreignGroups, func(s *snapshot.Snapshot) {
			s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-0given", Version: "3", Groups: []string{"sg-0mine"}}}
			s.Nodegroups[0].Template = snapshot.TemplateRef{ID: "lt-0given", Version: "3"}
		}), []string{"fail lt-0given [i-0node] [i-0node] lt-0given keeps sg-0cluster off i-0node"}},
		{"another template", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].ID = "lt-0other" }), []string{
			"unknown prod [i-0node] launch templates: not read: the launch template of i-0node is not among those that were read",
		}},
		{"ended, its groups gone", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.Instances[0].Groups = nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 does not list security groups of terminated instances",
		}},
		{"unread", startWorld(foreignGroups, checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown prod [] launch templates: denied"}},
	}
}

func TestMinorOfImage(t *testing.T) {
	for name, want := range map[string]minor{
		"amazon-eks-node-al2023-x86_64-standard-1.35-v20261112":                           35,
		"amazon-eks-node-al2023-arm64-nvidia-1.33-v20251015":                              33,
		"amazon-eks-node-1.30-v20241109":                                                  30,
		"amazon-eks-arm64-node-1.29-v20240202":                                            29,
		"amazon-eks-gpu-node-1.32-v20251120":                                              32,
		"bottlerocket-aws-k8s-1.26-x86_64-v1.15.1-264e294c":                               26,
		"bottlerocket-aws-k8s-1.31-nvidia-x86_64-v1.26.1-943d9a41":                        31,
		"bottlerocket-aws-ecs-2-x86_64-v1.26.1-943d9a41":                                  0,
		"Windows_Server-2022-English-Core-EKS_Optimized-1.33-2025.10.14":                  33,
		"ubuntu-eks/k8s_1.33/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20251015": 33,
		"al2023-ami-2023.6.20241010.0-kernel-6.1-x86_64":                                  0,
		"golden-1.31":                           0,
		"amazon-eks-":                           0,
		"amazon-eks-node-1.99999999999999999-v": 0,
		"":                                      0,
	} {
		expect.Equal(t, fmt.Sprintf("minorOfImage(%q)", name), minorOfImage(name), want)
	}
}

func TestOfAL2(t *testing.T) {
	for name, want := range map[string]bool{
		"amazon-eks-node-1.30-v20241109": true, "amazon-eks-gpu-node-1.32-v20251120": true, "amazon-eks-arm64-node-1.29-v1": true,
		"amazon-eks-node-al2023-x86_64-standard-1.35-v20261112": false, "bottlerocket-aws-k8s-1.26-x86_64-v1": false, "": false,
	} {
		expect.Equal(t, fmt.Sprintf("ofAL2(%q)", name), ofAL2(name), want)
	}
}

func TestSkew(t *testing.T) {
	tests := []struct {
		kubelet, plane minor
		want           string
	}{
		{35, 35, ""}, {32, 35, ""}, {25, 28, ""}, {24, 26, ""}, {0, 35, ""}, {35, 0, ""},
		{36, 35, "Kubernetes 1.36 is newer than the control plane's 1.35"},
		{31, 35, "Kubernetes 1.31 is too old for the control plane's 1.35, which supports 1.32 and newer"},
		{24, 27, "Kubernetes 1.24 is too old for the control plane's 1.27, which supports 1.25 and newer"},
		{24, 28, "Kubernetes 1.24 is too old for the control plane's 1.28, which supports 1.25 and newer"},
		{21, 24, "Kubernetes 1.21 is too old for the control plane's 1.24, which supports 1.22 and newer"},
	}
	for _, tt := range tests {
		expect.Equal(t, fmt.Sprintf("skew(%s, %s)", tt.kubelet, tt.plane), skew(tt.kubelet, tt.plane), tt.want)
	}
}

func FuzzMinorOfImage(f *testing.F) {
	f.Add("amazon-eks-node-al2023-x86_64-standard-1.35-v20261112")
	f.Add("bottlerocket-aws-k8s-1.26-x86_64-v1.15.1-264e294c")
	f.Add("ubuntu-eks/k8s_1.")
	f.Fuzz(func(t *testing.T, name string) {
		if m := minorOfImage(name); m < 0 || m > 999 {
			t.Errorf("minorOfImage(%q) = %d", name, m)
		}
	})
}

func metadata(m snapshot.Metadata) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		snapshottest.Instance(s, snapshottest.Node).Metadata = m
	}
}

func imdsCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	near := []string{"fail (possible) lt-0a [i-0node] [i-0node] metadata of i-0node is out of pods' reach"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"on", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"})), pass},
		{"off", startWorld(metadata(snapshot.Metadata{Endpoint: "disabled", HopLimit: 1})), []string{"fail lt-0a [i-0node] [i-0node] the metadata service of i-0node is off"}},
		{"one hop", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"})), near},
		{"one hop, as Auto Mode has it", checktest.Change(startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"})), ofAutoMode), pass},
		{"one hop, tokens not required", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "optional"})), pass},
		{"one hop, and a pod of a Ready node waits for metadata", wantsMetadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"}), []string{"fail (likely) lt-0a [i-0node] [i-0node] metadata of i-0node is out of pods' reach"}},
		{"two hops, and a pod of a Ready node waits for metadata", wantsMetadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"}), pass},
		{"off since, and a pod of a Ready node waits for metadata", wantsMetadata(snapshot.Metadata{Endpoint: "disabled", HopLimit: 1}), []string{"fail (likely) lt-0a [i-0node] [i-0node] the metadata service of i-0node is off"}},
		{"one hop, and a pod of a Ready node waits for a volume", checktest.Change(startWorld(), ready(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"}), checktest.StuckPod(20*time.Minute, "FailedMount", "timed out waiting for the condition")), pass},
		{"hops not said", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled"})), pass},
		{"not said", startWorld(metadata(snapshot.Metadata{})), []string{"unknown prod [i-0node] instances: not read: EC2 does not report whether the metadata service is on"}},
		{"unread", startWorld(checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

// ready sets the metadata options of a node that stays Ready.
func ready(m snapshot.Metadata) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Metadata = m }
}

// wantsMetadata is a Ready node with a pod whose volume's driver reads its metadata.
func wantsMetadata(m snapshot.Metadata) *snapshot.Snapshot {
	return checktest.Change(startWorld(), ready(m), checktest.StuckPod(20*time.Minute, "FailedMount",
		"MountVolume.SetUp failed for volume \"secrets\": rpc error: code = Unknown desc = no EC2 IMDS role found, operation error ec2imds: GetMetadata, exceeded maximum number of attempts"))
}

// ofAutoMode makes the first instance one of EKS Auto Mode.
func ofAutoMode(s *snapshot.Snapshot) {
	i := s.Instances[0]
	i.Tags = map[string]string{check.AutoPoolTag: "general-purpose"}
	s.Instances[0] = i
}

// allows sets the max pods of a node that is not Ready.
func allows(pods int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodes[0].Ready.Status = "False"
		s.Nodes[0].MaxPods = pods
	}
}

func cniSets(name, value string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
}

func maxPodsCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	fail := []string{"fail (possible) lt-0a [i-0node] [i-0node] lt-0a: max pods is 110, m5.large has addresses for 29"}
	likely := []string{"fail (likely) lt-0a [i-0node] [i-0node] lt-0a: max pods is 110, m5.large has addresses for 29"}
	ready := func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "True" }
	runs := func(pods int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.NodePods = []snapshot.NodePods{{Node: s.Nodes[0].Name, Addressed: pods}}
		}
	}
	return []checktest.Case{
		{"Ready", startWorld(allows(110), ready), pass},
		{"Ready, all addresses given out, and pods wait for one", startWorld(allows(110), ready, runs(27), checktest.NoAddress), likely},
		{"Ready, pods wait for one, and some are left", startWorld(allows(110), ready, runs(20), checktest.NoAddress), pass},
		{"Ready, pods wait for one, its pods were not counted", startWorld(allows(110), ready, checktest.NoAddress), fail},
		{"Ready, pods wait for one, and no more are allowed than there are", startWorld(allows(29), ready, runs(27), checktest.NoAddress), pass},
		{"Ready, pods wait for a sandbox image", startWorld(allows(110), ready, runs(27), checktest.StuckPod(time.Hour, "FailedCreatePodSandBox", "failed to get sandbox image")), pass},
		{"as many as there are", startWorld(allows(29)), pass},
		{"more", startWorld(allows(110)), fail},
		{"more, by the user data of one that has not registered", startWorld(instead("maxPods: 29", "maxPods: 110")), fail},
		{"more, with prefixes", startWorld(allows(110), cniSets("ENABLE_PREFIX_DELEGATION", "true")), pass},
		{"more, with prefixes that the hypervisor cannot do", startWorld(allows(110), cniSets("ENABLE_PREFIX_DELEGATION", "true"), func(s *snapshot.Snapshot) { s.InstanceTypes[0].Hypervisor = "xen" }), fail},
		{"custom networking", startWorld(allows(29), cniSets("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")), []string{
			"fail (possible) lt-0a [i-0node] [i-0node] lt-0a: max pods is 29, m5.large has addresses for 20",
		}},
		{"more, by nodeadm's expression", startWorld(custom, instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"(default_enis * ips_per_eni + 80) / 1\"\n    config:\n")), []string{
			"fail (possible) lt-0a [i-0node] [i-0node] lt-0a: max pods is 110, m5.large has addresses for 29",
		}},
		{"as many, by nodeadm's expression", startWorld(custom, instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"((default_enis - 1) * (ips_per_eni - 1)) + 2\"\n    config:\n")), pass},
		{"an expression where EKS adds its own", startWorld(instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"110\"\n    config:\n")), pass},
		{"an expression that cannot be followed", startWorld(custom, instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"max_pods > 20 ? 110 : 20\"\n    config:\n")), []string{
			"unknown prod [i-0node] user data: not read: i-0node: its maxPodsExpression cannot be followed",
		}},
		{"more, and a drop-in that may say less", startWorld(instead("maxPods: 29", "maxPods: 110"), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = []byte(strings.Replace(string(s.UserData[0].Data), "--//--", "--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\ncat > /etc/eks/nodeadm.d/1.yaml <<E\nE\n\n--//--", 1))
		}), []string{"unknown prod [i-0node] user data: not read: i-0node: it writes a NodeConfig into /etc/eks/nodeadm.d, which takes precedence and may set max pods"}},
		{"another network plugin", startWorld(allows(110), func(s *snapshot.Snapshot) { s.CNI = nil }), pass},
		{"IPv6", startWorld(allows(110), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), pass},
		{"the image works it out", startWorld(instead("      maxPods: 29\n", "")), pass},
		{"not registered, user data unread", startWorld(toldAs(""), checktest.Unread(snapshot.UserDataOf), checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown prod [i-0node] user data: denied"}},
		{"not registered, user data over budget", startWorld(toldAs(overBudget())), []string{
			"unknown prod [i-0node] user data: over budget: i-0node: the user data is over budget: reading it takes more than 524288 bytes unpacked",
		}},
		{"the type is not known", startWorld(allows(110), func(s *snapshot.Snapshot) { s.InstanceTypes[0].Name = "m6.large" }), []string{
			"unknown prod [i-0node] instance types: not read: the capacity of m5.large is unknown",
		}},
		{"unread", startWorld(checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	}
}

// The numbers are those of EKS's own list for these types
// (eni-max-pods.txt of github.com/awslabs/amazon-eks-ami).
func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		interfaces, addresses int
		env                   map[string]string
		want                  int
	}{
		{3, 10, nil, 29}, // m5.large
		{8, 30, nil, 234},
		{2, 2, nil, 4}, // t3.nano
		{3, 10, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, 434},
		{3, 10, map[string]string{"MAX_ENI": "2"}, 20},
		{1, 2, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, 2},
	} {
		got := room(snapshot.InstanceType{Interfaces: tt.interfaces, IPv4PerInterface: tt.addresses, Hypervisor: "nitro"}, tt.env)
		if got != tt.want {
			t.Errorf("room of %d x %d with %v = %d, want %d", tt.interfaces, tt.addresses, tt.env, got, tt.want)
		}
	}
}

func olderThanClusterCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	fail := []string{"fail lt-0a [i-0node] [i-0node] i-0node launched before cluster prod was ready"}
	young := func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		s.Cluster.Created = s.Time.Add(-5 * time.Minute)
	}
	return []checktest.Case{
		{"Ready", startWorld(selfManaged), pass},
		{"younger", startWorld(selfManaged, toldAs("")), pass},
		{"older", startWorld(selfManaged, young), fail},
		{"older, managed", startWorld(young), pass},
		{"the cluster is being made", startWorld(selfManaged, toldAs(""), func(s *snapshot.Snapshot) { s.Cluster.Status = "CREATING" }), fail},
		{"not said", startWorld(selfManaged, toldAs(""), func(s *snapshot.Snapshot) { s.Cluster.Created = time.Time{} }), []string{
			"unknown prod [i-0node] cluster: not read: the creation time of the cluster or the launch time of the instance is unknown",
		}},
		{"unread", startWorld(selfManaged, checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestProxied(t *testing.T) {
	const proxy = "#!/bin/bash\nexport HTTPS_PROXY=http://proxy:3128\n"
	own := func(data string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.UserData[0].Data = []byte(data) }
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(proxy))
	_ = w.Close()
	for name, tt := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   string
	}{
		"none":                 {own("#!/bin/bash\necho proxy\n"), ""},
		"in the user data":     {own(proxy), "i-0node"},
		"in small letters":     {own("#!/bin/bash\nexport https_proxy=x\n"), "i-0node"},
		"in gzip":              {own(zipped.String()), "i-0node"},
		"Bottlerocket":         {own("[settings.network]\nhttps-proxy = \"1.2.3.4:8080\"\n"), "i-0node"},
		"in the template only": {checktest.TemplateSays(proxy), "lt-0a"},
		"in another template": {func(s *snapshot.Snapshot) {
			s.LaunchTemplates = append(s.LaunchTemplates, snapshot.LaunchTemplate{ID: "lt-0other", UserData: []byte(proxy)})
		}, ""},
		"in another version": {func(s *snapshot.Snapshot) {
			s.LaunchTemplates[0].UserData, s.LaunchTemplates[0].Version = []byte(proxy), "99"
		}, ""},
		"of another instance": {func(s *snapshot.Snapshot) {
			s.UserData = append(s.UserData, snapshot.UserData{Instances: []string{"i-0other"}, Data: []byte(proxy)})
		}, ""},
		"the template by EC2's tag": {func(s *snapshot.Snapshot) {
			checktest.TemplateSays(proxy)(s)
			i := snapshottest.Instance(s, snapshottest.Node)
			i.Tags["aws:ec2launchtemplate:id"], i.Tags["aws:ec2launchtemplate:version"] = i.Template.ID, i.Template.Version
			i.Template = snapshot.TemplateRef{}
		}, "lt-0a"},
	} {
		s := startWorld(tt.change)
		expect.Equal(t, fmt.Sprintf("%s: proxied", name), check.NewView(s).Boot().Proxied([]*snapshot.Instance{snapshottest.Instance(s, snapshottest.Node)}), tt.want)
	}
}

// planned gives the worlds' first instance an event.
func planned(code, description string, in time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Statuses[0].Events = append(s.Statuses[0].Events, snapshot.ScheduledEvent{Code: code, Description: description, NotBefore: s.Time.Add(in)})
	}
}

func scheduledEventCases() []checktest.Case {
	const week = 7 * 24 * time.Hour
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, and to be retired", checktest.Change(snapshottest.PrivateWithNAT(), planned("instance-retirement", "The instance is running on degraded hardware", week)), []string{"pass prod [i-0node]"}},
		{"nothing planned", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"retirement", checktest.Change(checktest.Missed(), planned("instance-retirement", "The instance is running on degraded hardware", week)), []string{
			"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-retirement",
		}},
		{"stop", checktest.Change(checktest.Missed(), planned("instance-stop", "", week)), []string{"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-stop"}},
		{"a reboot that began", checktest.Change(checktest.Missed(), planned("system-reboot", "", -time.Minute)), []string{"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled system-reboot"}},
		{"a reboot to come explains nothing yet", checktest.Change(checktest.Missed(), planned("instance-reboot", "", week)), []string{
			"fail (advice) i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-reboot",
		}},
		{"what explains leads", checktest.Change(checktest.Missed(), planned("system-maintenance", "", week), planned("instance-retirement", "", week)), []string{
			"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-retirement",
		}},
		{"completed", checktest.Change(checktest.Missed(), planned("instance-reboot", "[Completed] The instance is scheduled for a reboot", -time.Hour)), []string{"pass prod [i-0node]"}},
		{"cancelled", checktest.Change(checktest.Missed(), planned("instance-stop", "[Canceled] The instance is running on degraded hardware", week)), []string{"pass prod [i-0node]"}},
		{"a code that nobody knows", checktest.Change(checktest.Missed(), planned("instance-teleport", "", week)), []string{
			"fail (advice) i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-teleport",
		}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Statuses)), []string{"unknown prod [] instance status: denied"}},
	}
}

func TestScheduledEventWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceScheduledEvent), checktest.Change(checktest.Missed(), planned("instance-retirement", "The instance is running on degraded hardware", time.Hour)))
	expect.Equal(t, "Why", got.Why, "EC2 has scheduled instance-retirement of i-0node, not before 2026-11-20 16:00 UTC. It does so where the host is failing.")
}

// statusIs gives the worlds' first instance a status.
func statusIs(system, os string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Statuses[0].System, s.Statuses[0].OS = system, os }
}

func statusCheckCases() []checktest.Case {
	fail := []string{"fail workers [i-0node] [i-0node] i-0node fails EC2's status checks"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready and impaired: a node that works is not accused", checktest.Change(snapshottest.PrivateWithNAT(), statusIs("impaired", "ok")), []string{"pass prod [i-0node]"}},
		{"no node, and well", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"the host", checktest.Change(checktest.Missed(), statusIs("impaired", "ok")), fail},
		{"the operating system", checktest.Change(checktest.Missed(), statusIs("ok", "impaired")), fail},
		{"two of a group", checktest.Change(checktest.Missed(), statusIs("ok", "impaired"), checktest.LaunchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { s.Statuses[1].OS = "impaired" }), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances fail EC2's status checks",
		}},
		{"no verdict yet", checktest.Change(checktest.Missed(), statusIs("ok", "initializing")), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 has no result for i-0node: system ok, instance initializing",
		}},
		{"no verdict yet, not due", checktest.Change(checktest.Missed(), statusIs("ok", "initializing"), checktest.NotDueYet), nil},
		{"a status that nobody knows is no pass", checktest.Change(checktest.Missed(), statusIs("ok", "dizzy")), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 has no result for i-0node: system ok, instance dizzy",
		}},
		{"no status", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Statuses = nil }), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 reports no status of i-0node",
		}},
		{"not running", checktest.Change(checktest.Missed(), statusIs("not-applicable", "not-applicable"), func(s *snapshot.Snapshot) { s.Instances[0].State = "pending" }), nil},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Statuses)), []string{"unknown prod [] instance status: denied"}},
	}
}

func TestStatusCheckFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceStatusCheck), checktest.Change(checktest.Missed(), statusIs("impaired", "impaired")))
	if !strings.HasPrefix(got.Fix.Command, "aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 ") {
		t.Errorf("Command = %q, want a replacement by its group", got.Fix.Command)
	}
	got = checktest.Failed(t, checkOf(checkid.InstanceStatusCheck), checktest.Change(checktest.Missed(), statusIs("impaired", "ok"), func(s *snapshot.Snapshot) { s.Instances[0].Tags = nil }))
	if got.Fix.Command != "aws ec2 terminate-instances --region us-west-2 --instance-ids i-0node" {
		t.Errorf("Command = %q, want its end: it has no group", got.Fix.Command)
	}
}

// unownedNode moves the worlds' instance to those that nothing of the cluster launched.
func unownedNode(s *snapshot.Snapshot) {
	s.Scope.Instances, s.Scope.Unowned = nil, s.Scope.Instances
}

func TestUnowned(t *testing.T) {
	checktest.RunCases(t, checkOf(checkid.InstanceUnowned), []checktest.Case{
		{Name: "the cluster's own", World: checktest.Missed(), Want: []string{"pass prod [prod]"}},
		{Name: "unowned, and no node", World: checktest.Change(checktest.Missed(), unownedNode), Want: []string{
			"fail prod [i-0node prod] [i-0node] i-0node tagged for prod, but nothing in it launched them",
		}},
		{Name: "unowned, and has time to join", World: checktest.Change(checktest.Missed(), unownedNode, func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(1) }),
			Want: []string{"pass prod [i-0node prod]"}},
		{Name: "unowned, and ended", World: checktest.Change(checktest.Missed(), unownedNode, func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }),
			Want: []string{"pass prod [i-0node prod]"}},
		{Name: "nodes not read", World: checktest.Change(checktest.Missed(), unownedNode, checktest.Unread(snapshot.Nodes)), Want: []string{"unknown prod [] nodes: denied"}},
	})
}

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
		return []string{"fail" + sure + " lt-0a [i-0node] [i-0node] " + check.Title("User data of lt-0a %s", says)}
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
			"unknown prod [i-0node] user data: not read: i-0node: it calls no bootstrap and mentions a cluster: it may be for a bootstrap that the image has built in",
		}},
		{"a script from elsewhere", startWorld(custom, toldAs("#!/bin/bash\ncurl https://x | bash\n")), []string{
			"unknown prod [i-0node] user data: not read: i-0node: its script does what cannot be followed (a script from elsewhere)",
		}},
		{"noise", startWorld(custom, toldAs("\x01\x02\xff\xfe noise")), []string{"unknown prod [i-0node] user data: not read: i-0node: its format is unknown"}},
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
	for _, want := range []string{"staging, and the cluster's is prod", "It calls a different address", "It does not trust"} {
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
		{"newer by one, as after a rollback of the control plane", checktest.Change(checktest.Missed(), imageNamed(newer)), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36, control plane 1.35"}},
		{"newer by two", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.37-v1")), []string{"fail workers [i-0node] [i-0node] i-0node: kubelet 1.37, control plane 1.35"}},
		{"four older", checktest.Change(checktest.Missed(), imageNamed(older)), []string{"fail workers [i-0node] [i-0node] i-0node: kubelet 1.31, control plane 1.35"}},
		{"newer, not due", checktest.Change(checktest.Missed(), imageNamed(newer), checktest.NotDueYet), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36, control plane 1.35"}},
		{"newer, by the name of somebody's image", checktest.Change(checktest.Missed(), imageNamed(newer), func(s *snapshot.Snapshot) { s.Images[0].OwnerAlias = "" }), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36, control plane 1.35",
		}},
		{"the node's own word counts first", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), func(s *snapshot.Snapshot) { s.Nodes[0].Kubelet = "v1.31.2-eks-94953ac" }), []string{
			"fail workers [i-0node] [i-0node] i-0node: kubelet 1.31, control plane 1.35",
		}},
		{"two of a group", checktest.Change(checktest.Missed(), imageNamed(older), checktest.LaunchedToo("i-0second", 10*time.Minute)), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: kubelet 1.31, control plane 1.35",
		}},
		{"a name without a version in a managed group", checktest.Change(checktest.Missed(), imageNamed("golden-7")), []string{"pass prod [i-0node]"}},
		{"nothing tells", checktest.Change(checktest.Missed(), custom), []string{
			"unknown prod [i-0node] images: not read: neither a node nor the image's name shows the kubelet's version of i-0node",
		}},
		{"no image is left", checktest.Change(checktest.Missed(), custom, func(s *snapshot.Snapshot) { s.Images = nil }), []string{
			"unknown prod [i-0node] images: not read: neither a node nor the image's name shows the kubelet's version of i-0node",
		}},
		{"newer, as a Ready node is: the control plane was rolled back", checktest.Change(checktest.Missed(), imageNamed(newer), func(s *snapshot.Snapshot) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "old", Kubelet: "v1.36.0-eks-1", Ready: snapshot.Condition{Status: "True"}})
		}), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36, control plane 1.35"}},
		{"nothing tells, not due", checktest.Change(checktest.Missed(), custom, checktest.NotDueYet), nil},
		{"a cluster version that nobody knows", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Cluster.Version = "two" }), []string{
			`unknown prod [prod] cluster: broken: the version "two" of the cluster cannot be parsed`,
		}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Images)), []string{"unknown prod [] images: denied"}},
	}
}

func TestVersionSkewFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.InstanceVersionSkew), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.31-v1")))
	expect.Equal(t, "Command", got.Fix.Command, "aws eks update-nodegroup-version --region us-west-2 --cluster-name prod --nodegroup-name workers --kubernetes-version 1.35")
	got = checktest.Failed(t, checkOf(checkid.InstanceVersionSkew), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.36-v1")))
	if got.Fix.Command != "" || !strings.Contains(got.Fix.Text, "upgrade the control plane") {
		t.Errorf("Fix = %+v, want no command: a nodegroup cannot go back", got.Fix)
	}
}
