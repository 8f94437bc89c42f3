package worldgen

import (
	"fmt"
	"strings"
	"time"

	"rollcall/shared/checkid"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func startFaults() []Fault {
	change := func(edit func(*start)) func(*World) {
		return func(w *World) {
			s := w.start()
			edit(&s)
			w.setUserData(userData(w.Shape.Image, s))
		}
	}
	return []Fault{
		{Name: "user data names another cluster", Check: checkid.InstanceUserData, applies: always, breaks: change(func(s *start) { s.cluster = "staging" })},
		{Name: "user data names another endpoint", Check: checkid.InstanceUserData, applies: always, breaks: change(func(s *start) {
			s.endpoint = "https://FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF.gr7.us-west-2.eks.amazonaws.com"
		})},
		{Name: "user data holds another authority", Check: checkid.InstanceUserData, applies: always, breaks: change(func(s *start) {
			s.authority = strings.Replace(authority, "Ck1JSUIK", "Ck1JSUMK", 1)
		})},
		{Name: "no user data", Check: checkid.InstanceUserData, applies: func(w *World) bool { return w.Shape.Fleet != ManagedGroup }, breaks: func(w *World) { w.setUserData("") }},
		{Name: "a label that kubelets may not set", Check: checkid.InstanceForbiddenNodeLabel, applies: func(w *World) bool { return w.Shape.Image == AL2023 || w.Shape.Image == AL2 },
			breaks: change(func(s *start) { s.extra = ",node-role.kubernetes.io/worker=true" })},
	}
}

func instanceFaults() []Fault {
	selfManaged := func(w *World) bool { return w.Shape.Fleet == SelfManaged }
	return []Fault{
		{Name: "metadata off", Check: checkid.InstanceIMDS, applies: always, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) {
				i.MetadataOptions.HttpEndpoint = ec2types.InstanceMetadataEndpointStateDisabled
			})
		}},
		{Name: "no tag of the cluster", Check: checkid.InstanceClusterTag, applies: selfManaged, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) {
				i.Tags = without(i.Tags, func(t ec2types.Tag) bool { return strings.HasPrefix(*t.Key, "kubernetes.io/cluster/") })
			})
			g := w.scalingGroup()
			g.Tags = g.Tags[1:]
		}},
		{Name: "an image for another architecture", Check: checkid.InstanceAMI, applies: linux, breaks: func(w *World) {
			i := w.imageOf()
			i.Architecture, i.Name = ec2types.ArchitectureValuesArm64, aws.String(strings.Replace(*i.Name, "x86_64", "arm64", 1))
		}},
		{Name: "an image newer than the control plane", Check: checkid.InstanceVersionSkew, Or: []checkid.ID{checkid.InstanceAMI}, applies: always, breaks: func(w *World) {
			i := w.imageOf()
			i.Name = aws.String(strings.Replace(*i.Name, w.version, "1.36", 1))
		}},
		{Name: "older than the cluster", Check: checkid.InstanceOlderThanCluster, applies: selfManaged, breaks: func(w *World) {
			w.eks().CreatedAt = aws.Time(w.now().Add(-Age + time.Minute))
			w.eks().ResourcesVpcConfig.SubnetIds = w.private
		}},
		{Name: "their own system shut them down", Check: checkid.InstanceEndedEarly, applies: always, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) {
				i.State = &ec2types.InstanceState{Name: ec2types.InstanceStateNameTerminated, Code: aws.Int32(48)}
				i.StateReason = &ec2types.StateReason{Code: aws.String("Client.InstanceInitiatedShutdown"), Message: aws.String("Client.InstanceInitiatedShutdown: Instance initiated shutdown")}
				i.StateTransitionReason = aws.String(fmt.Sprintf("User initiated (%s GMT)", i.LaunchTime.Add(90*time.Second).UTC().Format(time.DateTime)))
			})
			if g := w.scalingGroup(); g != nil {
				g.Instances, g.DesiredCapacity = nil, aws.Int32(0)
			}
		}},
		{Name: "nodeadm fails", Check: checkid.InstanceConsoleError, applies: func(w *World) bool { return w.Shape.Image == AL2023 }, breaks: func(w *World) {
			for _, id := range w.Young {
				w.File.EC2.ConsoleOutput[id] = "[    0.000000] Linux version 6.12.46\n         Starting nodeadm-config.service - EKS Nodeadm Config...\n" +
					"[    8.100211] nodeadm[1495]: {\"level\":\"fatal\",\"ts\":1795186232.5,\"caller\":\"nodeadm/main.go:36\",\"msg\":\"Command failed\",\"error\":\"Kubernetes node role is missing\"}\n" +
					"[FAILED] Failed to start nodeadm-config.service - EKS Nodeadm Config.\nlogin: \n"
			}
		}},
		{Name: "foreign groups that keep the control plane out", Check: checkid.InstanceForeignSecurityGroups, applies: func(w *World) bool { return w.Shape.Fleet == ManagedGroup && w.Shape.Groups != ClusterGroup }, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissions = nil
		}},
	}
}
