package kubernetes

import (
	"context"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// csrs are the certificate signing requests.
func csrs() source.Source {
	return source.Source{
		Name: snapshot.CSRs,
		Kube: []spec.KubeRule{
			{Group: "certificates.k8s.io", Resources: []string{"certificatesigningrequests"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.CSRs(ctx)
			if forbidden(err) {
				err = source.NotGrantedError{What: "certificate signing requests"}
			}
			return source.Keep(source.Each(list, csr), err, func(x snapshot.CSR) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.CSR { return &s.CSRs })
		}),
	}
}

func csr(c kube.CSR) snapshot.CSR {
	out := snapshot.CSR{Name: c.Metadata.Name, Signer: c.Spec.SignerName, Username: c.Spec.Username, Created: c.Metadata.CreationTimestamp}
	for _, condition := range c.Status.Conditions {
		switch condition.Type {
		case "Approved":
			out.Approved = true
		case "Denied":
			out.Denied = true
		}
	}
	return out
}
