package worldgen

import (
	"encoding/base64"
	"fmt"
)

// start is what user data tells a node.
type start struct {
	cluster, endpoint, authority, services, extra string
}

func (w *World) start() start {
	s := start{cluster: cluster, endpoint: endpoint, authority: authority, services: service4}
	if w.Shape.IPv6 {
		s.services = service6
	}
	return s
}

// userData is the user data of an image's kind, in the form of the API.
func userData(image Image, s start) string {
	var text string
	switch image {
	case AutoImage:
		return "" // EKS keeps it to itself
	case AL2:
		text = fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
set -ex
B64_CLUSTER_CA=%s
API_SERVER_URL=%s
/etc/eks/bootstrap.sh %s --kubelet-extra-args '--node-labels=team=a%s' --b64-cluster-ca $B64_CLUSTER_CA --apiserver-endpoint $API_SERVER_URL --dns-cluster-ip 172.20.0.10

--//--
`, s.authority, s.endpoint, s.cluster, s.extra)
	case Bottlerocket:
		text = fmt.Sprintf("[settings.kubernetes]\n\"cluster-name\" = %q\n\"api-server\" = %q\n\"cluster-certificate\" = %q\n[settings.kubernetes.node-labels]\n\"team\" = \"a\"\n%s",
			s.cluster, s.endpoint, s.authority, s.extra)
	case Windows:
		text = fmt.Sprintf("<powershell>\n[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n& $EKSBootstrapScriptFile -EKSClusterName %q -APIServerEndpoint %q -Base64ClusterCA %q 3>&1 4>&1 5>&1 6>&1\n%s</powershell>\n",
			s.cluster, s.endpoint, s.authority, s.extra)
	default:
		text = fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: %s
    apiServerEndpoint: %s
    certificateAuthority: %s
    cidr: %s
  kubelet:
    flags:
    - "--node-labels=team=a%s"

--//--
`, s.cluster, s.endpoint, s.authority, s.services, s.extra)
	}
	return base64.StdEncoding.EncodeToString([]byte(text))
}
