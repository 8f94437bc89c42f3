package kube

import (
	"context"
	"time"
)

// CSR is what is read of a certificates.k8s.io/v1 CertificateSigningRequest.
type CSR struct {
	Metadata struct {
		Name              string    `json:"name"`
		CreationTimestamp time.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec struct {
		SignerName string `json:"signerName"`
		Username   string `json:"username"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type string `json:"type"` // Approved, Denied, Failed
		} `json:"conditions"`
	} `json:"status"`
}

// maxCSRs bounds the requests that are read. Kubernetes keeps one that is
// approved for an hour and one that is pending for a day: a cluster of a
// thousand nodes has a few thousand.
const maxCSRs = 10_000

// CSRs lists the certificate signing requests.
func (c *Client) CSRs(ctx context.Context) ([]CSR, error) {
	return list[CSR](ctx, c, "certificate signing requests", "/apis/certificates.k8s.io/v1/certificatesigningrequests", nil, maxCSRs)
}
