/// The texts of the `# HELP` lines, which say what each metric counts; docs/metrics.md says more.
enum MetricHelp {
    static func text(for name: String) -> String {
        texts[name] ?? "See docs/metrics.md"
    }

    /// The help texts by the metric's name in Prometheus.
    private static let texts: [String: String] = [
        "sluice_gateway_connections": "Sockets",
        "sluice_gateway_sessions": "Sessions served",
        "sluice_gateway_app_sessions": "Sessions of an app, of the 100 apps that have the most",
        "sluice_gateway_broker_up": "1 while the broker is there",
        "sluice_gateway_queue_ready": "Messages that wait in the gateway's queue",
        "sluice_gateway_bindings": "Routing keys that the gateway wants notices of",
        "sluice_gateway_binding_patterns": "Apps all of whose notices the gateway hears for a while",
        "sluice_gateway_uploads_total": "Changesets from clients",
        "sluice_gateway_upload_bytes_total": "Bytes of changesets from clients",
        "sluice_gateway_download_bytes_total": "Bytes to clients",
        "sluice_gateway_uploads_unacknowledged_bytes": "Uploads not yet integrated",
        "sluice_gateway_request_duration_seconds": "How long owners take to answer",
        "sluice_gateway_password_duration_seconds": "How long a login or registration waits for its password's hash",
        "sluice_gateway_logins_refused_total":
            "Logins refused because too many had failed, or too many passwords waited",
        "sluice_gateway_foreign_keys_fetched_total": "Answers of other services that were asked for their keys",
        "sluice_gateway_mails_total": "Mails handed over to be sent, given up, or not taken",
        "sluice_gateway_requests_timeouts_total": "Requests that no owner answered in time",
        "sluice_gateway_messages_received_total": "Messages from clients",
        "sluice_gateway_sockets_refused_total": "Sockets refused because their app had as many as it may",
        "sluice_gateway_quotas_met_total": "Sockets, sessions and uploads refused for now because of a quota",
        "sluice_gateway_quotas_slowed_total": "Times that a socket was opened or read later because of a quota",
        "sluice_gateway_failures_delayed_total":
            "Answers to failed requests that waited, because an address or an app had many",
        "sluice_gateway_sockets_slowed_total": "Times that a socket was read later because it sent too many messages",
        "sluice_worker_quotas_met_total": "Sessions and uploads refused for now because of a quota",
        "sluice_gateway_upgrades_total": "Sockets opened, or why not",
        "sluice_gateway_binds_incompatible_total": "Sessions refused because the client does not know the app's rules",
        "sluice_gateway_errors_total": "What clients were told",
        "sluice_gateway_notices_missed_total": "Notices found missing, and fetched as a page",
        "sluice_gateway_pages_recent_total": "Pages made of notices that the gateway had kept, not by the owner",
        "sluice_gateway_publish_failures_total": "Publishes that the broker did not confirm",
        "sluice_gateway_sending_refused_total": "Messages that would have broken the protocol",
        "sluice_gateway_messages_undecodable_total": "Messages from other processes that cannot be read",
        "sluice_worker_changesets_integrated_total": "Changesets made history",
        "sluice_worker_changesets_duplicates_total": "Recognised as integrated before",
        "sluice_worker_uploads_gaps_total": "Uploads refused because one before them was missing",
        "sluice_worker_merge_entries_total": "History merged over",
        "sluice_worker_merge_conflicts_total": "History merged over that conflicted",
        "sluice_worker_batch_messages": "Messages a batch",
        "sluice_worker_batch_duration_seconds": "From delivery to acknowledgement",
        "sluice_worker_commit_duration_seconds": "One store transaction",
        "sluice_worker_deliveries_held_bytes": "Bodies of deliveries that wait in memory",
        "sluice_worker_deliveries_spooled_bytes": "Bodies of deliveries that wait in the spool file",
        "sluice_worker_deliveries_spool_failures_total":
            "Bodies that could not be written to the spool file, and wait in memory",
        "sluice_worker_slices_standing_still": "Slices that hold messages and have dealt with none for a minute",
        "sluice_worker_messages_dead_bytes_total": "Bytes kept of messages that were set aside",
        "sluice_worker_looks_aside_total":
            "Readings of subscription sets, and trials of objects on them, that went on beside their slice",
        "sluice_worker_merges_aside_total": "Merges of uploads that went on beside their slice",
        "sluice_worker_merges_slow_total": "Steps of one upload's merge that took longer than a second",
        "sluice_worker_resets_unasked_total": "Client realms that have to reset though no campaign asked for it",
        "sluice_coordinator_slice_ready": "Messages that wait in a slice's queue",
        "sluice_coordinator_slice_unacknowledged": "Messages that a slice's owner holds",
        "sluice_coordinator_slice_oldest_seconds": "Age of the oldest message that a slice's owner holds",
        "sluice_coordinator_slice_in_per_second": "Messages that come for a slice a second",
        "sluice_coordinator_slice_out_per_second": "Messages of a slice that its owner deals with a second",
        "sluice_worker_slices_owned": "Slices owned now",
        "sluice_worker_slices_taken_total": "Slices taken",
        "sluice_worker_slices_lost_total": "Slices found taken by another",
        "sluice_worker_messages_redelivered_total": "Deliveries that the broker had made before",
        "sluice_worker_messages_returned_total": "Deliveries that a worker gave back undone",
        "sluice_worker_changes_published_total": "Changes of documents that were told to those who follow their apps",
        "sluice_worker_publish_repeated_total":
            "Reports, dead letters and corrections that the broker did not take, and that are published again",
        "sluice_worker_requests_expired_total": "Requests that came too late to be answered",
        "sluice_worker_requests_repeated_total": "Requests that a session had made before, or that came after its end",
        "sluice_worker_messages_newer_total": "Messages of a newer version that went back to the queue, each time",
        "sluice_worker_messages_dead_total": "Messages set aside",
        "sluice_worker_events_refused_total": "Published writes and changesets that were refused",
        "sluice_worker_merge_steps_total": "What merging has taken, in steps",
        "sluice_worker_uploads_cut_off_total": "Uploads whose merge would have taken more than its budget",
        "sluice_worker_messages_waited_total": "Messages put off because their realm or app had its share of the slice",
        "sluice_worker_messages_not_kept_total": "Uploads set aside of which no letter was made",
        "sluice_worker_sessions_refused_total": "Sessions refused",
        "sluice_worker_resets_paced_total": "Client realms told to wait for their turn to reset",
        "sluice_worker_resets_held_total":
            "Sessions told to wait because so many clients would have to reset that an operator is asked first",
        "sluice_worker_slices_holding_resets": "Slices that ask an operator before more clients reset",
        "sluice_worker_resets_doubted_total":
            "Identifications whose gateway was asked first, since they would undo something",
        "sluice_worker_client_files_expired_total": "Client realms not seen for the app's maximum offline time",
        "sluice_worker_history_bases_total": "Bases written, for new clients to begin with",
        "sluice_worker_history_base_bytes_total": "Bytes of bases written",
        "sluice_worker_history_compacted_total": "Versions dropped from histories",
        "sluice_worker_store_reclaimed_bytes_total": "Room given back to the file system",
        "sluice_worker_outcomes_inferred_total": "Resets of stock clients whose end was inferred",
        "sluice_campaign_client_realms": "Client realms of the newest campaign of each app, by outcome",
        "sluice_campaign_notified": "Client realms of the newest campaign that were told to reset",
        "sluice_coordinator_signing_key_age_seconds": "How old the key is that signs",
        "sluice_coordinator_admin_refused_total":
            "Admin requests without a token, with a wrong one, or one whose role may not",
        "sluice_coordinator_stalled_readers_total":
            "Streams of documents ended because their clients read nothing any more",
        "sluice_coordinator_changes_missed_total":
            "Streams of changes ended because the broker had lost a change",
        "sluice_coordinator_anonymous_users_removed_total":
            "Anonymous users that were not seen for long, and are gone",
        "sluice_coordinator_active": "1 for the active one",
        "sluice_coordinator_slices_ownerless": "Slices without an owner, as heartbeats tell",
        "sluice_coordinator_slices_without_standby": "Slices that no worker would take at once, as heartbeats tell",
        "sluice_coordinator_clock_offset_seconds":
            "How far a worker's or gateway's clock is ahead of this coordinator's",
        "sluice_coordinator_last_backup_at_seconds":
            "When the last backup began that sluice backup made, in seconds of Unix time",
        "sluice_coordinator_outcomes_ready": "Messages that wait in the outcomes queue",
        "sluice_coordinator_ticks_total": "Ticks sent to slices",
        "sluice_coordinator_reports_total": "Reports applied",
        "sluice_coordinator_batch_reports": "Reports of one transaction",
        "sluice_coordinator_batch_duration_seconds": "One transaction of reports",
        "sluice_coordinator_terminations_published_total": "Campaigns published, repetitions too",
        "sluice_coordinator_dead_letters": "Letters in sluice.dead, as the active coordinator last saw",
        "sluice_coordinator_dead_letters_dropped_total":
            "Letters that were dropped because there were more than coordinator.max_dead_letters",
        "sluice_coordinator_newer_total": "Reports of a newer version that went back to the queue, each time",
        "sluice_coordinator_dead_lettered_total": "Reports that could not be used",
        "sluice_coordinator_outcomes_dropped_total": "Waiting outcomes dropped, because too many waited",
        "sluice_tls_certificate_expires_at_seconds": "When a listener's certificate ends, in seconds of Unix time",
        "sluice_tls_reload_failing": "1 while a listener's certificate files cannot be used",
        "sluice_build_info": "1, with the version and the roles of the process",
        "sluice_ready": "1 while a component of the process is ready",
        "sluice_slices": "How many slices the cluster has",
        "sluice_store_up": "1 while the cluster's store answers the process",
        "sluice_metrics_overflow_total": "Label sets folded into a series overflow='true'",
        "sluice_coordinator_deletions_unfinished": "Apps that were deleted and of which something is left",
        "sluice_coordinator_migrations_unfinished":
            "Apps on their way from one sync mode to the other, whose clients wait",
        "sluice_coordinator_campaigns_aged_out_total":
            "Campaigns closed because they were open for campaigns.open_days",
        "sluice_coordinator_outcomes_unknown_total":
            "Client realms of aged-out campaigns whose reset nobody reported on",
        "sluice_gateway_deliveries_held_bytes": "Bodies of answers and notices of owners that wait in memory",
        "sluice_gateway_deliveries_spooled_bytes":
            "Bodies of answers and notices of owners that wait in the spool file",
        "sluice_gateway_deliveries_spool_failures_total":
            "Bodies that could not be written to the spool file, and wait in memory",
        "sluice_gateway_binds_moved_total": "Clients told that their app has moved to the other sync mode",
        "sluice_gateway_binds_denied_total": "Sessions refused because of what their users may do",
        "sluice_gateway_views_too_dear_total":
            "Subscription sets that took more of a commit than they may at a gateway",
        "sluice_store_round_trips_total": "How often the process has waited for the database",
        "sluice_store_connections_lost_total": "Connections to the database that were lost",
        "sluice_store_conflicts_total": "Transactions done again because another stood in the way",
        "sluice_worker_changesets_ahead_total": "Changesets dated more than a day ahead of the worker's clock",
        "sluice_worker_rules_stale_total": "Uploads and requests sent back because they were let in under older rules",
        "sluice_worker_uploads_compensated_total":
            "Writes of clients of flexible apps that were undone at their authors",
        "sluice_worker_views_too_dear_total": "Subscription sets that took more than they may at an owner",
        "sluice_worker_views_far_behind_total":
            "Sessions of flexible apps ended because their clients had missed too much",
        "sluice_worker_uploads_denied_total":
            "Uploads refused, or dropped in part, because of what they hold or who sent them",
        "sluice_worker_client_files_forgotten_total":
            "Rows of client files removed, worker.client_file_days after their clients were seen",
        "sluice_worker_realms_erased_total": "Realms erased, by command or with their app",
        "http_server_active_requests": "Requests being answered",
        "hb_requests_total": "Requests answered",
        "http_server_request_duration_seconds": "From a request's head to its answer's end",
        "hb_request_errors_total": "Errors that no answer was made of",
    ]
}
