package import Logging
package import SyncModel

/// The settings of a Sluice process. Each has a dotted key, used in the YAML file as nested mappings, in the
/// environment as `SLUICE_` with underscores (`amqp.url` is `SLUICE_AMQP_URL`), and by the flags of the command line.
package struct SluiceConfiguration: Sendable, Equatable, CustomStringConvertible {
    /// Where a role listens. Port 0 takes a free one.
    package struct Listen: Sendable, Equatable {
        package var host: String
        package var port: Int
        /// `tls_certificate`, `tls_key`; nil: it speaks plain HTTP.
        package var tls: TLSFiles?

        /// `http` or `https`.
        package var scheme: String { tls == nil ? "http" : "https" }
    }

    /// `id`: names the process in queues, heartbeats and logs. Nil: made up at start.
    package var id: String?
    /// `amqp.url`: with its credentials.
    package var amqpURL = Secret("amqp://guest:guest@127.0.0.1:5672")
    /// `amqp.prefix`: what the names of all exchanges and queues begin with.
    package var prefix = "sluice"
    /// `slices`: fixed when the cluster is created.
    package var slices = 8
    /// `store.url`: may hold a password, so it is treated as a secret.
    package var storeURL = Secret("sqlite:sluice-data")

    /// `gateway.host`, `gateway.port`.
    package var gateway = Listen(host: "127.0.0.1", port: 9080)
    /// `gateway.public_url`: what clients are told in /location. Nil: `http://host:port`.
    package var gatewayPublicURL: String?
    /// `gateway.failure_delay_seconds`: how long the answer to one of many failed requests waits.
    package var gatewayFailureDelaySeconds = 1
    /// `gateway.max_app_sockets`: of its 20,000, how many one app may have open.
    package var gatewayMaxAppSockets = 15_000
    /// `quotas.…`: what an app, or one user of it, may have or do, where the app has no value of its own.
    package var quotas = QuotaValues()
    /// `gateway.request_seconds`: how long a realm's owner may take to answer before its session is told to try again.
    package var requestDeadline: Duration = .seconds(10)
    /// `gateway.trusted_proxies`: whose word counts on where a client is, by `X-Forwarded-For` and the PROXY protocol.
    package var trustedProxies = AddressRanges()
    /// `gateway.proxy_protocol`: trusted proxies begin each socket with a header of the PROXY protocol.
    package var proxyProtocol = false
    /// `gateway.spool_folder`: where answers of owners wait that would take too much memory.
    package var gatewaySpoolFolder = "/var/tmp"
    /// `gateway.password_hashes`: how many are made at once, each in the memory that `passwordCost` says.
    package var passwordHashes = 2
    /// `gateway.password_cost`: log2 of scrypt's N. A hash takes 2 to the power of this KiB, 128 MiB with 17.
    package var passwordCost = 17
    /// `gateway.mail_url`, `gateway.mail_secret`: where mails are posted, and with which bearer token.
    package var mailURL: String?
    package var mailSecret = Secret("")
    /// `gateway.mail_command`: a program that gets mails on its standard input.
    package var mailCommand: String?
    /// `coordinator.host`, `coordinator.port`: the admin API.
    package var coordinator = Listen(host: "127.0.0.1", port: 9090)
    /// `coordinator.public_url`: what links to the dashboard begin with. Nil: where the admin API was asked.
    package var coordinatorPublicURL: String?
    /// `operations.host`, `operations.port`: health, readiness, metrics. Nil port: the role's own default.
    package var operationsHost = "127.0.0.1"
    package var operationsPort: Int?
    /// `operations.tls_certificate`, `operations.tls_key`.
    package var operationsTLS: TLSFiles?
    /// `tls.reload_seconds`: how often the certificates' files are looked at.
    package var certificateInterval: Duration = .seconds(10)
    /// `tls.ca_file`: authorities that commands trust beside the system's.
    package var authoritiesFile: String?

    /// `admin.token`.
    package var adminToken = Secret("")
    /// `admin.token_file`: where a generated token is written (mode 0600) when `admin.token` is empty.
    package var adminTokenFile: String?

    /// `users.anonymous_days`: how long an anonymous user stays that is not seen; 0: for ever.
    package var anonymousDays = 90
    /// `campaigns.open_days`: how long a campaign may stay open; 0: as long as it likes.
    package var campaignDays = 30
    /// `keys.rotation_days`: how old a key that signs tokens may become; 0: as old as it likes.
    package var keyRotationDays = 90

    /// `worker.prefetch`: deliveries in hand.
    package var workerPrefetch = 1_000
    /// `worker.spool_folder`: where bodies of deliveries wait that would take too much memory.
    package var spoolFolder = "/var/tmp"
    /// `worker.heartbeat_seconds`.
    package var heartbeatInterval: Duration = .seconds(2)
    /// `worker.lease_seconds`.
    package var leaseDuration: Duration = .seconds(15)
    /// `worker.upload_merge_steps`: what merging one upload may take before it is cut off.
    package var uploadMergeSteps = 500_000_000
    /// `worker.realm_merge_steps`, `worker.app_merge_steps`: what merges of a realm, and of an app, take before others come first.
    package var realmMergeSteps = 6_000_000
    package var appMergeSteps = 12_000_000
    /// `worker.compaction_versions`, `worker.compaction_bytes`: a realm's history is compacted once it has grown by both.
    package var compactionVersions = 1_000
    package var compactionBytes = 256 << 10
    /// `worker.client_file_days`: how long the row of a client file stays that has reset or must; 0: for ever.
    package var clientFileDays = 180
    /// `worker.reset_share_percent`: of an app's client files in a slice, how many may be asked to reset within a minute
    /// without a termination, before an operator is asked.
    package var resetSharePercent = 20
    /// `coordinator.tick_seconds`.
    package var tickInterval: Duration = .seconds(5)
    /// `grafana.url`: where the dashboard's links to Grafana lead; nil: it has none.
    package var grafanaURL: String?
    /// `coordinator.max_dead_letters`: beyond it the oldest of the app that has the most go.
    package var maxDeadLetters = 10_000
    /// `coordinator.stalled_reader_seconds`: how long a client may read nothing of a stream for which a store's snapshot is held.
    package var stalledReader: Duration = .seconds(60)
    /// `backup.place`: a folder of backups, or `s3://bucket/prefix`. Nil: each command names its own.
    package var backupPlace: String?
    /// `backup.keep`: how many backups stay there; 0: all.
    package var backupKeep = 0
    /// `backup.key_file`, `backup.passphrase_file`: what backups are sealed with.
    package var backupKeyFile: String?
    package var backupPassphraseFile: String?
    /// `backup.endpoint`: nil: Amazon's in the region.
    package var backupEndpoint: String?
    /// `backup.region`.
    package var backupRegion = "us-east-1"
    /// `backup.access_key`, `backup.secret_key`, `backup.session_token`.
    package var backupAccessKey = Secret("")
    package var backupSecretKey = Secret("")
    package var backupSessionToken = Secret("")
    /// `shutdown.seconds`: how long a process may take to stop in an orderly way.
    package var shutdownDeadline: Duration = .seconds(20)

    /// `log.level`.
    package var logLevel: Logger.Level = .info
    /// `log.format`.
    package var logFormat: LogFormat = .text

    package init() {}

    /// Every setting, for `sluice config` and the first log line; secrets redacted.
    package var description: String {
        settings.map { "\($0.key): \($0.value)" }.joined(separator: "\n")
    }

    package var settings: [(key: String, value: String)] {
        [
            ("id", id ?? ""), ("amqp.url", amqpURL.description), ("amqp.prefix", prefix), ("slices", "\(slices)"),
            ("store.url", Self.redactedURL(storeURL)), ("gateway.host", gateway.host),
            ("gateway.port", "\(gateway.port)"), ("gateway.public_url", gatewayPublicURL ?? ""),
            ("gateway.failure_delay_seconds", "\(gatewayFailureDelaySeconds)"),
            ("gateway.max_app_sockets", "\(gatewayMaxAppSockets)"),
            ("gateway.request_seconds", requestDeadline.secondsText),
            ("gateway.trusted_proxies", trustedProxies.description), ("gateway.proxy_protocol", "\(proxyProtocol)"),
            ("gateway.spool_folder", gatewaySpoolFolder),
            ("gateway.password_hashes", "\(passwordHashes)"), ("gateway.password_cost", "\(passwordCost)"),
            ("gateway.mail_url", mailURL ?? ""),
            ("gateway.mail_secret", mailSecret.description), ("gateway.mail_command", mailCommand ?? ""),
            ("coordinator.host", coordinator.host), ("coordinator.port", "\(coordinator.port)"),
            ("coordinator.public_url", coordinatorPublicURL ?? ""),
            ("coordinator.tick_seconds", tickInterval.secondsText),
            ("coordinator.max_dead_letters", "\(maxDeadLetters)"),
            ("coordinator.stalled_reader_seconds", stalledReader.secondsText), ("grafana.url", grafanaURL ?? ""),
            ("operations.host", operationsHost),
            ("operations.port", operationsPort.map(String.init) ?? ""),
            ("gateway.tls_certificate", gateway.tls?.certificate ?? ""), ("gateway.tls_key", gateway.tls?.key ?? ""),
            ("coordinator.tls_certificate", coordinator.tls?.certificate ?? ""),
            ("coordinator.tls_key", coordinator.tls?.key ?? ""),
            ("operations.tls_certificate", operationsTLS?.certificate ?? ""),
            ("operations.tls_key", operationsTLS?.key ?? ""),
            ("tls.reload_seconds", certificateInterval.secondsText), ("tls.ca_file", authoritiesFile ?? ""),
            ("admin.token", adminToken.description),
            ("admin.token_file", adminTokenFile ?? ""), ("keys.rotation_days", "\(keyRotationDays)"),
            ("users.anonymous_days", "\(anonymousDays)"),
            ("campaigns.open_days", "\(campaignDays)"),
            ("worker.prefetch", "\(workerPrefetch)"), ("worker.spool_folder", spoolFolder),
            ("worker.heartbeat_seconds", heartbeatInterval.secondsText),
            ("worker.lease_seconds", leaseDuration.secondsText),
            ("worker.upload_merge_steps", "\(uploadMergeSteps)"),
            ("worker.realm_merge_steps", "\(realmMergeSteps)"), ("worker.app_merge_steps", "\(appMergeSteps)"),
            ("worker.compaction_versions", "\(compactionVersions)"),
            ("worker.compaction_bytes", "\(compactionBytes)"),
            ("worker.client_file_days", "\(clientFileDays)"),
            ("worker.reset_share_percent", "\(resetSharePercent)"),
            ("backup.place", backupPlace ?? ""), ("backup.keep", "\(backupKeep)"),
            ("backup.key_file", backupKeyFile ?? ""), ("backup.passphrase_file", backupPassphraseFile ?? ""),
            ("backup.endpoint", backupEndpoint ?? ""), ("backup.region", backupRegion),
            ("backup.access_key", backupAccessKey.description),
            ("backup.secret_key", backupSecretKey.description),
            ("backup.session_token", backupSessionToken.description),
            ("shutdown.seconds", shutdownDeadline.secondsText), ("log.level", logLevel.rawValue),
            ("log.format", logFormat.rawValue),
        ] + Quota.allCases.map { ($0.setting, "\(quotas[$0] ?? $0.standard)") }
    }

    /// The URL without user and password, which libpq takes among the parameters, too.
    package static func redactedURL(_ url: Secret) -> String {
        let parts = url.revealed.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first else { return "" }
        var base = String(first)
        if let scheme = base.firstRange(of: "://"), let at = base[scheme.upperBound...].lastIndex(of: "@") {
            base = "\(base[..<scheme.upperBound])<redacted>\(base[at...])"
        }
        guard parts.count == 2 else { return base }
        // A password with an @ or a ? of its own may be what looks like parameters.
        guard !parts[1].contains("@") else { return "\(base.prefix { $0 != ":" })://<redacted>" }
        let items = parts[1].split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return name.lowercased().contains("password") ? "\(name)=<redacted>" : String(item)
        }
        return "\(base)?\(items.joined(separator: "&"))"
    }
}

extension Duration {
    var secondsText: String {
        PrometheusName.number(Double(components.seconds) + Double(components.attoseconds) / 1e18)
    }
}
