# Names for inspectors

agora--search_regulations = Regelgeving doorzoeken
    .spoken = Ik ga de regelgeving doorzoeken

# Kept as it is

agora--get_report_status = Ophalen rapport status
