package automation

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// userData is step 12.
func userData(s Subject) answer {
	u, ok := find(s.Account.UserData, func(u snapshot.UserData) bool { return slices.Contains(u.Instances, s.Node.ID) })
	if !ok {
		return skipped("the user data could not be read")
	}
	bad := func(format string, args ...any) answer {
		return flagged(cause(fmt.Sprintf(format, args...), checkid.InstanceUserData))
	}
	d, err := userdata.Decode(u.Data)
	c := s.Account.Cluster
	switch {
	case s.Ready && d.Empty():
		return skipped("not knowable: the world does not draw the user data of this node")
	case err != nil || len(d.Faults) > 0:
		return bad("the user data cannot be read")
	case !d.Joins() && len(d.Scripted) == 0:
		return bad("no call of bootstrap.sh and no NodeConfig")
	case d.Name.Known() && d.Name.Value != c.Name:
		return bad("the user data names another cluster")
	case wrongFormat(s, d):
		return bad("bootstrap.sh on AL2023, or a NodeConfig on AL2")
	case d.Endpoint.Known() && c.Endpoint != "" && !strings.EqualFold(strings.TrimRight(d.Endpoint.Value, "/"), c.Endpoint):
		return bad("the user data has another endpoint")
	case d.CA.Known() && len(c.CA) > 0 && !sameCA(d.CA.Value, c.CA):
		return bad("the user data has another certificate authority")
	case d.ServiceCIDR.Known() && c.ServiceCIDR.IsValid() && d.ServiceCIDR.Value != c.ServiceCIDR.String():
		return bad("the user data has another service range")
	}
	return passed()
}

// wrongFormat tells that the user data is for the other Amazon Linux.
func wrongFormat(s Subject, d userdata.Document) bool {
	image, _ := imageOf(s)
	switch {
	case strings.Contains(image.Name, "al2023"):
		return d.Has(userdata.Bootstrap) && !d.Has(userdata.NodeConfig)
	case strings.HasPrefix(image.Name, al2):
		return d.Has(userdata.NodeConfig) && !d.Has(userdata.Bootstrap)
	}
	return false
}

func sameCA(given string, ca []byte) bool {
	return slices.EqualFunc(userdata.Authorities(given), userdata.Certificates(ca), bytes.Equal)
}

// nodeTags is step 13.
func nodeTags(s Subject) answer {
	key := "kubernetes.io/cluster/" + s.Account.Cluster.Name
	if _, ok := s.Node.Tags[key]; !ok {
		return flagged(cause("the tag "+key+" is missing", checkid.InstanceClusterTag))
	}
	return passed()
}

// al2 begins the names of EKS's images with Amazon Linux 2: a version follows.
const al2 = "amazon-eks-node-1."

// nodeAMI is step 14: the image is held against the public ones of EKS.
func nodeAMI(s Subject) answer {
	image, ok := imageOf(s)
	switch {
	case !ok || image.State != "available":
		return flagged(cause(s.Node.AMI+" is not available", checkid.InstanceAMI))
	case image.OwnerAlias != "amazon" || !strings.HasPrefix(image.Name, "amazon-eks-"):
		return flagged(cause(image.ID+" is no image of EKS", checkid.InstanceAMI))
	case !image.Deprecated.IsZero() && image.Deprecated.Before(s.Account.Time):
		return flagged(cause(image.ID+" is deprecated", checkid.InstanceAMI))
	}
	// EKS publishes no image with Amazon Linux 2 since 26 November 2025 (EKS user guide).
	if strings.HasPrefix(image.Name, al2) && s.Account.Time.After(time.Date(2025, 11, 26, 0, 0, 0, 0, time.UTC)) {
		return flagged(cause(image.ID+" has Amazon Linux 2", checkid.InstanceAMI))
	}
	node, okNode := minor(image.Name)
	cluster, okCluster := minor("-" + s.Account.Cluster.Version + "-")
	// A kubelet may be three minor versions older, and none newer (Kubernetes
	// version skew policy).
	if okNode && okCluster && (node > cluster || node < cluster-3) {
		return flagged(cause(fmt.Sprintf("the image is for 1.%d, the cluster is 1.%d", node, cluster), checkid.InstanceAMI, checkid.InstanceVersionSkew))
	}
	return passed()
}

func minor(name string) (int, bool) {
	m := regexp.MustCompile(`-1\.(\d+)-`).FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// nodeCNI is step 15.
func nodeCNI(s Subject) answer {
	if s.Secondary > 0 {
		return passed()
	}
	if s.Ready {
		return skipped("not knowable: the world does not draw the interfaces of this node")
	}
	return flagged(symptom("no secondary addresses on the node", checkid.NodeCNINotReady, checkid.IAMCNIRolePolicies))
}

// stsEndpoint is step 19. No API tells whether STS is on in a region; the
// runbook would call it. What a node that is not Ready wrote of it stands for
// that call.
func stsEndpoint(s Subject) answer {
	if s.Ready {
		return passed()
	}
	c, _ := find(s.Account.Consoles, func(c snapshot.Console) bool { return c.Instance == s.Node.ID })
	for _, line := range []string{"RegionDisabledException", "STS is not activated"} {
		if strings.Contains(c.Text, line) {
			return flagged(cause("STS is not active in the region", checkid.IAMSTSRegionDeactivated, checkid.IAMSTSEndpoint))
		}
	}
	return passed()
}

// imds is step 20.
func imds(s Subject) answer {
	if s.Node.Metadata.Endpoint == "disabled" {
		return flagged(cause("the metadata endpoint is disabled", checkid.InstanceIMDS))
	}
	return passed()
}
