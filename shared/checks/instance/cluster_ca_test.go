package instance

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// authorityOf is a certificate authority in PEM that begins in a year.
func authorityOf(t *testing.T, year int) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	c := x509.Certificate{SerialNumber: big.NewInt(int64(year)), NotBefore: from, NotAfter: from.AddDate(10, 0, 0), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestClusterCA(t *testing.T) { checktest.RunCases(t, ClusterCA(), clusterCACases(t)) }

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
	retired := []string{"fail lt-0a [i-0node] [i-0node] User data of lt-0a trusts a retired authority alone", "pass prod [prod]"}
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
			"fail lt-0a [i-0node] [i-0node] User data of lt-0a trusts a successor authority alone", "pass prod [prod]",
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
		}), []string{"fail (likely) lt-0a [i-0node] [i-0node] User data of lt-0a trusts a retired authority alone", "pass prod [prod]"}},
	}
}
