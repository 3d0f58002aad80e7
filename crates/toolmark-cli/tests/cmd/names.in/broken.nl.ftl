agora--search_regulations = { $count ->
    [one] Een
   *[other] Meer
}
agora--get_report_status = Status
    .colour = rood
