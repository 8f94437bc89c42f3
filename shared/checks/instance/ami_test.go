package instance

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestImageUnfit(t *testing.T) { checktest.RunCases(t, AMI(), imageUnfitCases()) }

func imageUnfitCases() []checktest.Case {
	noImage := func(s *snapshot.Snapshot) { s.Images = nil }
	const unlisted = "] images: not shown: EC2 does not list ami-0al2023 (deregistered since, no longer shared, or hidden by Allowed AMIs): which Kubernetes version it is for is unknown"
	arm := func(s *snapshot.Snapshot) { s.Images[0].Architecture = "arm64" }
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, and its image is gone", checktest.Change(snapshottest.PrivateWithNAT(), noImage), []string{"pass prod [i-0node]"}},
		{"fits", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"not listed", checktest.Change(checktest.Missed(), noImage), []string{"unknown ami-0al2023 [i-0node" + unlisted}},
		{"not listed, not due", checktest.Change(snapshottest.PrivateWithNAT(), noImage, checktest.NotReadyNode("x"), func(s *snapshot.Snapshot) { s.Launches = nil }), []string{"pass prod [i-0node]"}},
		{"disabled", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Images[0].State = "disabled" }), []string{"pass prod [i-0node]"}},
		{"another architecture", checktest.Change(checktest.Missed(), arm), []string{
			"fail ami-0al2023 [i-0node] [i-0node] ami-0al2023 does not fit: it is for arm64, and m5.large has x86_64",
		}},
		{"another architecture, the type's unknown", checktest.Change(checktest.Missed(), arm, checktest.Unread(snapshot.InstanceTypes)), []string{"pass prod [i-0node]"}},
		{"another Kubernetes", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.36-v1")), []string{
			"fail ami-0al2023 [i-0node] [i-0node] ami-0al2023 does not fit: Kubernetes 1.36 is newer than the control p…",
		}},
		{"Amazon Linux 2", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.32-v20251120")), []string{
			"fail ami-0al2023 [i-0node] [i-0node] ami-0al2023 does not fit: it is an EKS image with Amazon Linux 2, who…",
		}},
		{"Amazon Linux 2 before its end", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.32-v20251120"), func(s *snapshot.Snapshot) { s.Time = endOfAL2().Add(-time.Second) }), []string{"pass prod [i-0node]"}},
		{"deprecated alone does no harm", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Images[0].Deprecated = s.Time.Add(-time.Hour) }), []string{"pass prod [i-0node]"}},
		{"two types, one image: one finding", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.32-v20251120"), checktest.LaunchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Instance(s, "i-0second").Type = "m6i.large" }), []string{
			"fail ami-0al2023 [i-0node i-0second] [i-0node i-0second] ami-0al2023 does not fit: it is an EKS image with Amazon Linux 2, who…",
		}},
		{"this image could not be read", checktest.Change(checktest.Missed(), noImage, func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Images, snapshottest.AMI, snapshot.Failure{Source: snapshot.Images, Reason: snapshot.Throttled, Call: "ec2:DescribeImages"})
		}), []string{"unknown ami-0al2023 [i-0node] images: throttled"}},
		{"EC2 names no image", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Instances[0].AMI = "" }), []string{"unknown prod [i-0node] instances: broken: EC2 names no image"}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Images)), []string{"unknown prod [] images: denied"}},
	}
}

func TestImageUnfitWords(t *testing.T) {
	got := checktest.Failed(t, AMI(), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-1.30-v20241109"), func(s *snapshot.Snapshot) { s.Images[0].Deprecated = s.Time.Add(-time.Hour) }))
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
