package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// TestUserData: forms in which user data holds a secret. Each has hunter2, or a token of a
// known form, and each keeps what the node joins with.
func TestUserData(t *testing.T) {
	forms := []string{
		"DB_PASS=hunter2", "export DB_PASSWORD='hunter2 and more'", `PGPASSWORD="hunter2" psql -h db`, "TOKEN=hunter2 ./install.sh",
		`curl -H "Authorization: Bearer hunter2hunter2" https://api.corp`, `curl -H 'X-Api-Key: hunter2' https://api.corp`, "curl -u ci:hunter2 https://repo.corp/x", "curl --user=ci:hunter2 -O https://repo.corp/x",
		"mysql -u root -phunter2", "mysqldump --password=hunter2 db", "git clone https://ci:hunter2@git.corp/x.git", "git clone https://hunter2@github.com/x/y.git",
		"echo ghp_" + "16C7e42F292c6912E7710c838347hunter2 | gh auth login", "aws configure set aws_secret_access_key hunter2", "aws configure set --profile ci aws_session_token hunter2",
		"./agent --api-key hunter2 --site eu", "./agent --api-key=hunter2", "./agent \\\n  --password \\\n  hunter2", "./agent --token hunter2 \\\n  --debug",
		"curl -X POST https://hooks.slack.com/services/" + "T00/B00/hunter2", "curl https://discord.com/api/webhooks/1/hunter2", "LICENSE_KEY=hunter2", "NEW_RELIC_LICENSE_KEY: hunter2",
		`echo '{"auths":{"r.corp":{"auth":"` + b64("ci:hunter2") + `"}}}' > /root/.docker/config.json`,
		"echo 'root:hunter2' | chpasswd", "echo hunter2 | passwd --stdin admin", "chpasswd <<EOF\nroot:hunter2\nadmin:hunter2\nEOF", "useradd -m -p hunter2 admin", "usermod -p '$6$salt$hunter2hunter2hunter2' admin",
		"DSN=postgres://app:hunter2@db:5432/x", "postgres://app:hun@hunter2@db/x", "Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=hunter2=", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=hunter2==;",
		"docker login -u ci -p hunter2 r.corp", "echo hunter2 | docker login -u ci --password-stdin r.corp", "skopeo copy --src-creds ci:hunter2 docker://x dir:y", "STRIPE=sk_live_" + "hunter2hunter2",
		"GITHUB_PAT=hunter2", "AZURE_DEVOPS_PAT: hunter2", "PASSPHRASE=hunter2", "gpg --batch --passphrase hunter2 -d x", "openssl enc -d -pass pass:hunter2 -in x", "keytool -storepass hunter2 -keypass hunter2",
		"sshpass -p hunter2 scp x y:", "redis-cli -h r -a hunter2 ping", "htpasswd -bc /etc/x admin hunter2", "machine r.corp login ci password hunter2", "db.corp:5432:*:app:hunter2",
		"//registry.npmjs.org/:_authToken=hunter2", "psk=hunter2", "PresharedKey = hunter2", "db.password = hunter2", "spring.datasource.password=hunter2",
		"password: hunter2", "password: | correct hunter2", "token: > hunter2", "password: correct horse hunter2", "secret: correct horse hunter2", "- name: DB_PASSWORD\n  value: hunter2", "password: |\n  line of hunter2\n  another hunter2\nnext: stays",
		"chpasswd:\n  expire: false\n  list:\n    - root:hunter2", "chpasswd:\n  list: |\n    root:hunter2\n    admin:hunter2", "    plain_text_passwd: hunter2", "    passwd: $6$rounds=4096$hunter2$hunter2hunter2",
		"# the root password is hunter2", "# PIN was 12hunter2", `<password>hunter2</password>`, `<add key="DbPassword" value="hunter2"/>`, `{"db":{"password":"hunter2"}}`, `echo "{\"clientSecret\": \"hunter2\"}"`,
		"-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----",
		`"private_key": "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n"`, "echo " + b64("export DB_PASSWORD=hunter2\n") + " | base64 -d > /etc/x", "VAULT_TOKEN=hvs." + "hunter2hunter2hunter2",
		"https://b.s3.amazonaws.com/x?X-Amz-Signature=hunter2&X-Amz-Security-Token=hunter2", "https://acct.blob.core.windows.net/x?sv=1&sig=hunter2", "kubeadm join --token hunter2", `auth = "hunter2"`, "vault login -method=userpass password=hunter2",
		`$password = "hunter2"`, `$p = ConvertTo-SecureString "hunter2" -AsPlainText -Force`, `$p = ConvertTo-SecureString -String 'hunter2' -AsPlainText`, "net user admin hunter2 /add", `net use \\x\y /user:corp\ci hunter2`,
		`[Environment]::SetEnvironmentVariable("DB_TOKEN", "hunter2", "Machine")`, "Add-Computer -Password hunter2", "cmdkey /add:x /user:ci /pass:hunter2", `setx DB_PASSWORD "hunter2"`, `New-Object PSCredential("ci", "hunter2")`,
	}
	const joins = "/etc/eks/bootstrap.sh prod --b64-cluster-ca LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURBVENDQWVtZ0F3SUJBZ0lK --kubelet-extra-args '--node-labels=team=secret-agents --max-pods=58'"
	mime := func(form string) string {
		body := b64("#!/bin/bash\n" + form + "\n" + joins + "\n")
		var lines []string
		for ; len(body) > 76; body = body[76:] {
			lines = append(lines, body[:76])
		}
		return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\nContent-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n" + strings.Join(append(lines, body), "\n") + "\n--B--\n"
	}
	held := func(form, got, layer string) {
		t.Helper()
		if strings.Contains(got, "hunter2") {
			t.Errorf("%s: %q\nholds the secret: %q", layer, form, got)
		}
		if !strings.Contains(got, joins) {
			t.Errorf("%s: %q\nlost what the node joins with: %q", layer, form, got)
		}
	}
	r := New(Masked)
	for _, form := range forms {
		script := "#!/bin/bash\n" + form + "\n" + joins + "\n"
		got := r.text(script, false)
		held(form, got, "script")
		if strings.Count(got, "\n") != strings.Count(script, "\n") {
			t.Errorf("%q: other lines: %q", form, got)
		}
		if again := r.text(got, false); again != got {
			t.Errorf("redacted twice: %q, then %q", got, again)
		}
		plain, _, ok := Script(r.Value(userData, b64(script)))
		held(form, plain, fmt.Sprint("base64 ", ok))
		part := r.text(mime(form), false)
		_, part, _ = strings.Cut(part, "base64\n\n")
		part, _, _ = strings.Cut(part, "\n--B--")
		inside, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(part, "\n", ""))
		held(form, string(inside), fmt.Sprint("part of MIME ", err))
	}
}

// TestUserDataStays: what a node joins with, and what speaks of secrets without one.
func TestUserDataStays(t *testing.T) {
	r := New(Masked)
	for _, text := range []string{
		"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: prod-token\n    apiServerEndpoint: https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com\n    certificateAuthority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURBVENDQWVtZ0F3SUJBZ0lK\n    cidr: 172.20.0.0/16\n  kubelet:\n    flags: [\"--node-labels=a=b\"]\n",
		"[settings.kubernetes]\ncluster-name = \"prod\"\napi-server = \"https://x.eks.amazonaws.com\"\ncluster-certificate = \"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURBVENDQWVtZ0F3SUJBZ0lK\"\nbootstrap-token = \"MASKED\"\n",
		"#!/bin/bash\nset -o xtrace\nTOKEN=$(curl -X PUT http://169.254.169.254/latest/api/token)\ncurl -H \"X-aws-ec2-metadata-token: $TOKEN\" http://169.254.169.254/latest/meta-data/instance-id\n",
		"PASSWORD=${DB_PASSWORD}\nmysql -p\"$PASSWORD\"\nPASSWORD=$(aws secretsmanager get-secret-value --secret-id prod/db --query SecretString)\n",
		"export AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/token\nhttp_tokens = required\nexport KUBECONFIG=/var/lib/kubelet/kubeconfig\n",
		"write_files:\n- path: /etc/x\n  encoding: b64\n  content: " + b64("a file of settings without any\n") + "\n",
		"aws ecr get-login-password | docker login --username AWS --password-stdin 602401143452.dkr.ecr.us-west-2.amazonaws.com\n",
		"-----BEGIN CERTIFICATE-----\n" + strings.Repeat("MIIBszCCAVmgAwIBAgIUaB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV\n", 3) + "-----END CERTIFICATE-----\nnext: line\n",
		"ssh_authorized_keys:\n  - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me\nsecretName: regcred\nimagePullSecrets: []\n",
	} {
		expect.Same(t, "changed", r.text(text, false), text)
	}
}

// TestTree: places of the files of a capture that hold a secret.
func TestTree(t *testing.T) {
	record := func(s string) string { raw, _ := json.Marshal(s); return string(raw) }
	secrets := []string{
		`{"Tags": [{"Key": "db-password", "Value": "hunter2"}]}`, `{"Tags": [{"Value": "hunter2", "Key": "ApiToken"}]}`, `{"tags": {"db-password": "hunter2"}}`, `{"tags": {"note": "password is hunter2"}}`,
		`{"Tags": [{"Key": "url", "Value": "https://ci:hunter2@repo.corp"}]}`, `{"metadata": {"annotations": {"vault/token": "hunter2"}}}`, `{"metadata": {"labels": {"apiKey": "hunter2"}}}`,
		`{"metadata": {"annotations": {"` + Applied + `": "hunter2"}}}`, `{"env": [{"name": "DB_PASS", "value": "hunter2"}]}`, `{"env": [{"name": "DSN", "value": "user=a password=hunter2"}]}`,
		`{"env": [{"name": "DATABASE_URL", "value": "postgres://app:hunter2@db/x"}]}`, `{"env": [{"name": "REDIS", "value": "redis://:hunter2@r:6379"}]}`, `{"env": [{"name": "GITHUB_PAT", "value": "hunter2"}]}`,
		`{"env": [{"name": "JAVA_OPTS", "value": "-Xmx1g -Ddb.password=hunter2"}]}`, `{"env": [{"name": "CONFIG", "value": "{\"password\":\"hunter2\"}"}]}`, `{"env": [{"name": "ENCRYPTION_KEY", "value": "hunter2"}]}`,
		`{"env": [{"name": "AUTH", "value": "hunter2"}]}`, `{"env": [{"name": "SESSION_COOKIE", "value": "hunter2"}]}`, `{"env": [{"name": "SENTRY_DSN", "value": "https://hunter2@sentry.corp/1"}]}`,
		`{"args": ["--password", "hunter2"]}`, `{"args": ["--password=hunter2"]}`, `{"args": ["--api-key", "hunter2", "--debug"]}`, `{"args": ["-u", "ci:hunter2"]}`, `{"args": ["--db-dsn=app:hunter2@tcp(db)/x", "--token=hunter2"]}`,
		`{"command": ["sh", "-c", "mysql -phunter2"]}`, `{"command": ["sh", "-c", "DB_PASS=hunter2 ./run"]}`, `{"command": ["curl", "-H", "Authorization: Bearer hunter2hunter2"]}`, `{"command": ["sh", "-c", "set -e\nexport TOKEN=hunter2\n"]}`,
		`{"lifecycle": {"postStart": {"exec": {"command": ["vault", "login", "-method=token", "token=hunter2"]}}}}`, `{"httpHeaders": [{"name": "Authorization", "value": "hunter2"}]}`, `{"httpHeaders": [{"name": "X-Api-Key", "value": "hunter2"}]}`,
		`{"data": {"password": "hunter2"}}`, `{"data": {"config.yaml": "db:\n  password: correct hunter2\n"}}`, `{"data": {".dockerconfigjson": "{\"auths\":{\"r\":{\"auth\":\"hunter2\"}}}"}}`, `{"data": {"app.properties": "a=b\ndb.pass=hunter2\n"}}`,
		`{"data": {"run.sh": "#!/bin/sh\ncurl -u a:hunter2 x\n"}}`, `{"UserData": "` + b64("TOKEN=hunter2\n") + `"}`, `{"UserData": {"Value": "` + b64("TOKEN=hunter2\n") + `"}}`, `{"LaunchTemplateData": {"UserData": "` + b64("pass: hunter2\n") + `"}}`,
		`{"Output": "boot\r\npassword: hunter2\r\n"}`, `{"Output": "+ mysql -u root -phunter2\r\n"}`, `{"Output": "Authorization: Bearer hunter2hunter2"}`, `{"Output": "root password: hunter2"}`, `{"Output": "fatal: https://x:hunter2@git.corp/y"}`,
		`{"CloudTrailEvent": ` + record(`{"requestParameters":{"userData":"`+b64("TOKEN=hunter2\n")+`"}}`) + `}`, `{"CloudTrailEvent": ` + record(`{"responseElements":{"credentials":{"secretAccessKey":"hunter2","sessionToken":"hunter2"}}}`) + `}`,
		`{"CloudTrailEvent": ` + record(`{"requestParameters":{"tagSpecificationSet":{"items":[{"tags":[{"key":"password","value":"hunter2"}]}]}}}`) + `}`, `{"CloudTrailEvent": ` + record(`{"userAgent":"tool/1 token=hunter2"}`) + `}`,
		`{"Description": "db password: hunter2"}`, `{"GroupName": "x", "Description": "pwd=hunter2"}`, `{"message": "pull with https://a:hunter2@r.corp failed"}`, `{"message": "Authorization: token hunter2hunter2 refused"}`,
		`{"note": "xoxb-` + `123456789012-hunter2hunter2"}`, `{"note": "ghp_` + `16C7e42F292c6912E7710c838347hunter2"}`, `{"note": "eyJhbGciOiJSUzI1NiJ9.hunter2.hunter2"}`, `{"note": "glpat-` + `hunter2hunter2hunter2"}`, `{"note": "sk_live_` + `hunter2hunter2"}`,
		`{"note": "https://hooks.slack.com/services/` + `T0/B0/hunter2"}`, `{"note": "npm_` + `abcdefghijklmnopqrstuvwxyzhunter2"}`, `{"note": "$6$abc$hunter2hunter2"}`, `{"note": "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----"}`,
		`{"StatusMessage": "token=hunter2"}`, `{"StatusMessage": "curl --user a:hunter2 failed"}`, `{"PolicyDocument": {"Condition": {"StringEquals": {"sts:ExternalId": "x", "aws:PrincipalTag/password": "hunter2"}}}}`,
		`{"Parameters": [{"ParameterKey": "x", "Name": "DbPassword", "Value": "hunter2"}]}`, `{"spec": {"kubelet": {"password": "hunter2"}}}`, `{"proxy": {"httpProxy": "http://u:hunter2@proxy:3128"}}`, `{"secret": "hunter2", "url": "ftp://a:hunter2@x"}`,
		`{"note": "` + b64("export DB_PASSWORD=hunter2 # more\n") + `"}`, `{"labels": {"x": "hvs.` + `hunter2hunter2hunter2"}}`, `{"annotations": {"connection-string": "hunter2"}}`,
	}
	if len(secrets) < 67 {
		t.Fatalf("%d places", len(secrets))
	}
	for _, text := range secrets {
		got := New(Masked).JSON(text)
		var v any
		if err := json.Unmarshal([]byte(got), &v); err != nil {
			t.Errorf("%s: %v", got, err)
		}
		for _, form := range []string{got, opened(v)} {
			if strings.Contains(form, "hunter2") {
				t.Errorf("%s\nholds the secret: %s", text, form)
			}
		}
	}
}

// opened returns the texts of a tree with what is in base64 decoded.
func opened(v any) string {
	switch v := v.(type) {
	case map[string]any:
		s := ""
		for _, item := range v {
			s += " " + opened(item)
		}
		return s
	case []any:
		s := ""
		for _, item := range v {
			s += " " + opened(item)
		}
		return s
	case string:
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil {
			return opened(inner)
		}
		if plain, _, ok := Script(v); ok {
			return plain
		}
		return v
	}
	return ""
}

// TestTreeStays: what diagnoses need of the files of a capture.
func TestTreeStays(t *testing.T) {
	for _, text := range []string{
		`{"HttpTokens":"required"}`, `{"metadataOptions":{"httpTokens":"optional"}}`, `{"ClientToken":"f0a1b2c3-d4e5"}`, `{"certificateAuthority":{"data":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURBVENDQWVtZ0F3SUJBZ0lK"}}`,
		`{"StatusMessage":"Failed: UnrecognizedClientException: The security token included in the request is invalid"}`, `{"message":"failed to get token: AccessDenied: User: arn:aws:sts::123456789012:assumed-role/workers/i-0 is not authorized"}`,
		`{"volumes":[{"name":"token","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}]}`, `{"env":[{"name":"AWS_WEB_IDENTITY_TOKEN_FILE","value":"/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}]}`,
		`{"env":[{"name":"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE","value":"/var/run/secrets/pods.eks.amazonaws.com/serviceaccount/eks-pod-identity-token"}]}`, `{"secretName":"regcred"}`, `{"PolicyArn":"arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"}`, `{"tags":{"kubernetes.io/cluster/prod":"owned"}}`,
		`{"imageID":"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause@sha256:4b6f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f"}`, `{"args":["--authentication-token-webhook=true","--v","2"]}`, `{"authenticationMode":"API"}`,
		`{"Action":["sts:AssumeRole","ecr:GetAuthorizationToken"],"Resource":"*"}`, `{"Output":"aws-iam-authenticator[2210]: could not get token: RegionDisabledException: STS is not activated"}`,
	} {
		expect.Same(t, "changed", New(Masked).JSON(text), text)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"password: |\n  x", "password: |  x", "a \\\n --token \\\n", "chpasswd <<EOF\na:b\n", b64("TOKEN=x\n"), "{\"a\":\"b\"}", "-----BEGIN RSA PRIVATE KEY-----"} {
		f.Add(s)
	}
	r := New(Masked)
	f.Fuzz(func(t *testing.T, text string) {
		once := r.text(text, false)
		if twice := r.text(once, false); twice != once {
			t.Errorf("redacted twice: %q, then %q", once, twice)
		}
		r.text(text, true)
		r.JSON(text)
	})
}

func BenchmarkTree(b *testing.B) {
	pod := `{"metadata":{"name":"web-6d4b75cb6d-hwxyz","namespace":"default","labels":{"app":"web","pod-template-hash":"6d4b75cb6d"},"uid":"0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"},
		"spec":{"containers":[{"name":"web","image":"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/web:1.2","args":["--port","8080"],"env":[{"name":"MODE","value":"fast"}]}],"nodeName":"ip-10-42-0-5.us-west-2.compute.internal"},
		"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available: 3 node(s) had volume node affinity conflict."}]}}`
	raw := "[" + strings.Repeat(pod+",", 999) + pod + "]"
	r := New(Masked)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		r.JSON(raw)
	}
}

// Put together from pieces, so that no scanner of repositories takes them for
// real ones.
const (
	awsSecret = "wJalrXUtnFEMIK7MDENG" + "bPxRfiCYEXAMPLEKEY12"
	gitHub    = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	slackBot  = "xoxb-" + "123456789012-abcDEF"
	jwt       = "eyJhbGciOiJSUzI1NiJ9" + ".eyJzdWIiOiJ4In0" + ".c2lnbmF0dXJl"
)

func TestRedact(t *testing.T) {
	tests := []struct{ line, want string }{
		// name: value
		{"password: hunter2", "password: …"},
		{"root password: hunter", "root password: …"},
		{"  DB_PASS: hunter", "DB_PASS: …"},
		{"x-vault-token: abc123 then more", "x-vault-token: … then more"},
		{"apiKey: 0a1b2c", "apiKey: …"},
		{"Password:hunter2 User:x", "Password:… User:x"},
		{"Cookie: session=abc; theme=dark", "Cookie: …; theme=dark"},
		// name=value
		{"password=hunter2 user=x", "password=… user=x"},
		{"export AWS_SECRET_ACCESS_KEY=short1 REGION=us-west-2", "export AWS_SECRET_ACCESS_KEY=… REGION=us-west-2"},
		{"PGPASSWORD='two words' psql", "PGPASSWORD='…' psql"},
		{`dbPassword = "two words" # x`, `dbPassword = "…" # x`},
		{`SECRET="a\"b" next`, `SECRET="…" next`},
		{"Server=db;Password=hun;ter2;", "Server=db;Password=…;"},
		{"{password=hunter2, user=x}", "{password=…, user=x}"},
		{"token=hunter2", "token=…"},
		{"%password=hunter2", "%password=…"},
		{"GET /?a=1&token=abc&b=2 failed", "GET /?a=1&token=…&b=2 failed"},
		{"https://b.s3.amazonaws.com/x?X-Amz-Security-Token=abc&X-Amz-Signature=0f0f 403", "https://b.s3.amazonaws.com/x?X-Amz-Security-Token=…&X-Amz-Signature=… 403"},
		{"clientSecret => 'x1', id => 'y'", "clientSecret => '…', id => 'y'"},
		// JSON
		{`{"password":"hunter2","user":"x"}`, `{"password":"…","user":"x"}`},
		{`{"auths":{"r":{"auth":"dXNlcjpwYXNz"}}}`, `{"auths":{"r":{"auth":"…"}}}`},
		{`{"msg":"got {\"clientSecret\": \"hunter2\", \"id\":\"x\"}"}`, `{"msg":"got {\"clientSecret\": \"…\", \"id\":\"x\"}"}`},
		{`{"token": 12345, "n": 1}`, `{"token": …, "n": 1}`},
		{`{"secret":{"password":"hunter2"}}`, `{"secret":{"password":"…"}}`},
		{`{"SecretAccessKey" : "cut`, `{"SecretAccessKey" : "…`},
		{`{"error":"bad token=abc","level":"fatal"}`, `{"error":"bad token=…","level":"fatal"}`},
		// Flags with a blank, and with user:password.
		{"registry-login --username x --password hunter2 reg.io", "registry-login --username x --password … reg.io"},
		{`["--password", "hunter2", "-v"]`, `["--password", "…", "-v"]`},
		{"join --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:00ff", "join --token … --discovery-token-ca-cert-hash sha256:00ff"},
		{"ctr pull --creds AWS:hunter2 602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5", "ctr pull --creds AWS:… 602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5"},
		{"curl -u admin:hunter2 https://repo.corp", "curl -u admin:… https://repo.corp"},
		{"curl --user 'admin:hunter2' https://repo.corp", "curl --user 'admin:…' https://repo.corp"},
		{"+ docker login -u x -p hunter2 repo.corp", "+ docker login -u x -p … repo.corp"},
		{"mysql -h db -phunter2", "mysql -h db -p…"},
		// Bearer, basic and their like.
		{"Authorization: Bearer abcdef0123", "Authorization: Bearer …"},
		{`curl -H "Authorization: bearer abcdefghij" https://x`, `curl -H "Authorization: bearer …" https://x`},
		{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic …"},
		{"sent Basic dXNlcjpwYXNz to x", "sent Basic … to x"},
		{"Authorization: token abcdefghij", "Authorization: token …"},
		{"Proxy-Authorization: hunter2hunter2", "Proxy-Authorization: …"},
		// URLs with user information.
		{"GET https://user:hunter2@repo.corp/x", "GET https://…@repo.corp/x"},
		{"fatal: https://abcdef@git.corp/x.git", "fatal: https://…@git.corp/x.git"},
		{"HTTPS_PROXY=http://u:p%40x@proxy:3128", "HTTPS_PROXY=http://…@proxy:3128"},
		{"postgres://app:hun@ter2@db:5432/x", "postgres://…@db:5432/x"},
		// What tells by its form what it is.
		{"key AKIAIOSFODNN7EXAMPLE", "key …"}, {"ASIAIOSFODNN7EXAMPLE is expired", "… is expired"},
		{"got " + gitHub, "got …"}, {"github_pat_" + "11ABCDEFG0aBcDeFgHiJkL", "…"}, {"glpat-" + "abcdefghij0123456789", "…"},
		{"slack " + slackBot, "slack …"}, {"post https://hooks.slack.com/services/" + "T00/B00/x0X", "post https://…"},
		{"jwt " + jwt + " is expired", "jwt … is expired"}, {"k8s-aws-v1." + "aHR0cHM6Ly9zdHM", "…"},
		{"sk_live_" + "abcdefgh1234", "…"}, {"sk-ant-" + "api03-abcdefghijklmnop", "…"}, {"AIza" + "SyA0123456789abcdefghijklmnopqrstuv", "…"},
		{"npm_" + "abcdefghijklmnopqrstuvwxyz0123456789", "…"}, {"hvs." + "CAESIabcdefghijklmn", "…"}, {"dckr_pat_" + "abcdefghij0123456", "…"},
		{"IQoJb3JpZ2lu" + "X2VjEH4", "…"}, {"-----BEGIN RSA PRIVATE KEY-----" + "MIIE and more", "-----BEGIN RSA PRIVATE KEY-----…"},
		{"key " + awsSecret + " used", "key … used"},
		{"<password>hunter2</password>", "<password>…</password>"},
	}
	r := New(Ellipsis)
	for _, tt := range tests {
		got := r.Line(tt.line)
		if got != tt.want {
			t.Errorf("redact(%q)\n got %q\nwant %q", tt.line, got, tt.want)
		}
		if again := r.Line(got); again != got {
			t.Errorf("redact twice of %q: %q, then %q", tt.line, got, again)
		}
	}
}

// What an engineer needs stays.
func TestRedactLeavesWhatIsNeeded(t *testing.T) {
	r := New(Ellipsis)
	lines := []string{
		"failed to get token: AccessDenied: User: arn:aws:sts::123456789012:assumed-role/workers/i-0node is not authorized",
		"getting credentials: exec: executable aws-iam-authenticator failed with exit code 1",
		"no basic auth credentials",
		"pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials",
		"Basic authentication failed", "the bearer token is not valid", "failed to refresh token: i/o timeout", "failed to get token: 401 Unauthorized",
		"InvalidClientTokenId: The security token included in the request is invalid",
		"UnrecognizedClientException: The security token included in the request is invalid", "ExpiredToken: The provided token has expired.",
		"SignatureDoesNotMatch: Signature expired: is now earlier", "NoCredentialProviders: no valid providers in chain",
		`Put "http://169.254.169.254/latest/api/token": dial tcp 169.254.169.254:80: i/o timeout`, "PUT http://169.254.169.254/latest/api/token: connection refused",
		"X-aws-ec2-metadata-token-ttl-seconds: 21600", "HttpTokens=required", `{"HttpTokens":"required","HttpPutResponseHopLimit":1}`,
		`FLAG: --authentication-token-webhook="true"`, `FLAG: --authentication-token-webhook-cache-ttl="0s"`, `FLAG: --tls-private-key-file=""`,
		"--tls-private-key-file=/etc/kubernetes/pki/kubelet.key", "tokenFile: /var/run/secrets/eks.amazonaws.com/serviceaccount/token",
		"AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/token", "secret: arn:aws:secretsmanager:us-west-2:123456789012:secret:prod/db-AbCdEf",
		"arn:aws:secretsmanager:us-west-2:123456789012:secret:prod/db-AbCdEf cannot be read", `secretName: regcred`,
		`E1120 14:50:39.699880 1790 token_manager.go:121] "Couldn't update token"`, `{"caller":"aws/credentials.go:88","msg":"getting credentials"}`,
		"docker login --username AWS --password-stdin 602401143452.dkr.ecr.us-west-2.amazonaws.com", "the flag --token is required",
		"public.ecr.aws/x/secrets-store-csi-driver:v1.4.0", "quay.io/x/token:v1", "docker run --user 1000:1000 x", "mkdir -p /etc/eks",
		"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause@sha256:4b6f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f4c1f2f6d1f",
		"https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes", "git@github.com:x/y.git", "mail root@ip-10-42-192-10",
		"arn:aws:iam::123456789012:role/workers /var/lib/cloud/instance/scripts/part-001", "token_expired=true passed=3 bypass: no",
		"subnet-0123456789abcdef0 eni-0123456789abcdef0 i-0123456789abcdef0", "kubelet[1790]: dial tcp 10.42.0.5:443: i/o timeout",
		"password: …", "--password …",
	}
	for _, line := range lines {
		if got := r.Line(line); got != line {
			t.Errorf("redact(%q)\n got %q", line, got)
		}
	}
}
